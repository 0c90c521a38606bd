"""The page of a run: job, curve, facts, cost, origin, the command that repeats it, and all that stands on it."""

import json
from itertools import permutations

import pandas as pd

from workflow.config.choices import AXES
from workflow.plan.ablations import load_ablation
from workflow.report.pages.ablation import claims
from workflow.report.pages.numbers import missing
from workflow.report.pages.site import Site
from workflow.results import provenance
from workflow.results.record import Record
from workflow.results.registry import COSTS, REGISTRY, names
from workflow.tasks.spec import TASKS

APART = ("counts", "shown", "looks")  # facts that a page does not list, or tells in a table of their own


def measures(row: dict) -> dict:
    """What was measured of a run's cell, and what could not be; `row`: the run's in runs.json."""
    quantities = [REGISTRY[name] for name in names(*COSTS) if not name.endswith("_turns")]
    values = [(quantity.title, row.get(quantity.name), quantity.unit) for quantity in quantities]
    there = [line for line in values if not missing(line[1]) and line[1] != []]
    lines = [(title, _spread(value) if unit == "spread" else value, unit) for title, value, unit in there]
    broken = [kind for kind in COSTS if row.get(f"{kind}_status") not in (None, "ok")]
    return {"lines": lines, "failed": [(kind, row[f"{kind}_status"], row[f"{kind}_reason"]) for kind in broken]}


def _spread(share: float) -> str:
    """The interquartile range over the median, in words."""
    return f"middle half of the rounds within {100 * share:.1f} % of the median"


def run(record: Record, used_in: dict[str, list], svg, row: dict) -> dict:
    """used_in: see `uses`; svg: the learning curve; row: the run's in its table of runs."""
    job, device = record.job, "cpu" if record.origin.device.startswith("cpu") else "cuda"
    return {
        "title": f"Run {record.digest}",
        "record": record,
        "job": json.dumps(job.model_dump(), indent=1),
        "attention": {axis: _words(getattr(job.attention, axis)) for axis in AXES},
        "facts": {key: value for key, value in record.facts.items() if not isinstance(value, dict) and key not in APART}
        | {f"{name}, signature": text for name, text in record.facts.get("signatures", {}).items()},
        "shown": record.facts.get("shown", []),
        "shown_as": TASKS[job.task].examples,
        "origin": record.origin.model_dump(),
        "measured": measures(row),
        "uses": used_in,
        "ablation": row["ablation"],
        "svg": svg,
        "command": f"python -m workflow.scripts.train results/runs/{record.digest}/job.json"
        f" --data results/data/{job.corpus}.npz --device {device}",
    }


def uses(site: Site, ablation: str, runs: pd.DataFrame) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """What stands on each run, within its ablation: digest -> kind -> (address beside the run's page, text)."""
    asked = load_ablation(ablation)
    found = {digest: {"seeds": [], "tables": [], "figures": [], "claims": []} for digest in runs["digest"]}
    for _, group in runs.drop_duplicates("digest").groupby("configuration"):
        for run, other in permutations(group.itertuples(), 2):
            found[run.digest]["seeds"].append((f"{other.digest}.html", f"seed {other.seed}"))
    for kind, ending in (("tables", "json"), ("figures", "svg")):
        for name in getattr(asked, kind):
            path = site.results / kind / f"{name}.{ending}"
            for digest in provenance.read(path).runs if path.exists() else ():
                found[digest][kind].append((f"index.html#{kind[:-1]}-{name}", name))
    for claim in claims(site, ablation):
        for digest in claim["digests"]:
            found[digest]["claims"].append((f"index.html#claim-{claim['name']}", claim["claim"]))
    return found


def _words(choice: dict) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in choice.items() if key != "name")
    return f"{choice['name']} ({settings})" if settings else choice["name"]
