"""The page of a run: job, curve, facts, cost, origin, the command that repeats it, and all that stands on it."""

import json

from workflow.config.choices import AXES
from workflow.report.pages.columns import MEASURED
from workflow.report.pages.numbers import missing
from workflow.results import runs_table as frame
from workflow.results.record import Record

SHOWN = {
    "translation": ("source", "reference", "output"),
    "captioning": ("picture", "references", "caption"),
    "parsing": ("sentence", "right tree", "tree written"),
}
APART = ("counts", "shown", "looks")  # facts that a page does not list, or tells in a table of their own


def measures(row: dict) -> dict:
    """What was measured of a run's cell, and what could not be; `row`: the run's in runs.json."""
    given = [(title, row.get(column), unit) for column, title, unit in MEASURED]
    there = [line for line in given if not missing(line[1]) and line[1] != []]
    lines = [(title, _spread(value) if unit == "spread" else value, unit) for title, value, unit in there]
    broken = [kind for kind in frame.MEASURES if row.get(f"{kind}_status") not in (None, "ok")]
    return {"lines": lines, "failed": [(kind, row[f"{kind}_status"], row[f"{kind}_reason"]) for kind in broken]}


def _spread(share: float) -> str:
    """The interquartile range over the median, in words."""
    return f"middle half of the rounds within {100 * share:.1f} % of the median"


def run(record: Record, uses: dict[str, list], svg, row: dict) -> dict:
    """uses: see `workflow.report.pages.uses`; svg: the learning curve; row: the run's in runs.json."""
    job, device = record.job, "cpu" if record.origin.device.startswith("cpu") else "cuda"
    return {
        "title": f"Run {record.digest}",
        "record": record,
        "job": json.dumps(job.model_dump(), indent=1),
        "attention": {axis: _words(getattr(job.attention, axis)) for axis in AXES},
        "facts": {key: value for key, value in record.facts.items() if not isinstance(value, dict) and key not in APART}
        | {f"{name}, signature": text for name, text in record.facts.get("signatures", {}).items()},
        "shown": record.facts.get("shown", []),
        "shown_as": SHOWN.get(job.task, ()),
        "origin": record.origin.model_dump(),
        "measured": measures(row),
        "uses": uses,
        "svg": svg,
        "command": f"python -m workflow.scripts.train results/runs/{record.digest}/job.json"
        f" results/runs/{record.digest} --data results/data/{job.corpus}.npz --device {device} --anew",
    }


def _words(choice: dict) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in choice.items() if key != "name")
    return f"{choice['name']} ({settings})" if settings else choice["name"]
