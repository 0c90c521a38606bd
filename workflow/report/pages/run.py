"""The page of a run: job, curve, scores, facts, costs, origin, the command that reproduces it, and
where it is used.
"""

import json
from dataclasses import asdict

import pandas as pd

from workflow.config.choices import AXES
from workflow.config.strict import read_json
from workflow.plan.labels import name_choice
from workflow.plan.questions import load_question
from workflow.report.answers.curves_figure import PART_OF_DEV
from workflow.report.builders import load_builder
from workflow.report.figures.colours import on_page, shades
from workflow.report.pages.question import read_claims
from workflow.report.pages.site import Site
from workflow.results import provenance
from workflow.results.datasets import Badge, badge_of, badge_of_bits, title_of
from workflow.results.numbers import is_number, missing, name_places, number, within
from workflow.results.precomputed import NOT_RUN
from workflow.results.record import Point, Record
from workflow.results.registry import COSTS, REGISTRY, bounds_of, names
from workflow.results.statistics import over_seeds
from workflow.results.timings import TIMED, describe_timings, turn_values
from workflow.results.trained_enough import FAILED_TO_TRAIN
from workflow.tasks.spec import TASKS

# of the same configuration that a page leads to: all of many would be pages that grow with the runs
SEEDS = 30
# Facts that are too long to list, or have a table of their own.
UNLISTED = ("counts", "second_test_counts", "shown", "looks")
# columns of timings that ± and the sentence beside them say
OF_TURNS = ("_turns", "_references", "_spread", "quiet")
NAMED = 8  # steps of a learning curve, or a few more, that stand under it
Line = tuple[str, object, str]  # title, value, unit


def run_page(record: Record, uses: dict[str, list], row: dict) -> dict:
    """Collect what the page of a run shows. uses: from `find_uses`. row: that of the run in the
    table of runs.
    """
    job, device = record.trained, "cpu" if record.origin.device.startswith("cpu") else "cuda"
    choice = f" --choice results/choices/{name_choice(record.job)}.json" if record.follows else ""
    return {
        "title": f"Run {record.digest}",
        "label": _label(row),
        "asked": load_question(row["question"]).question,
        "record": record,
        "untrained": row["reason"] if row["status"] == FAILED_TO_TRAIN else None,
        "job": json.dumps(record.job.model_dump(), indent=1),
        "texts": [asdict(each) for each in _badges(row)],
        "attention": {axis: _describe_choice(getattr(job.attention, axis)) for axis in AXES},
        "scores": _lines(record.metrics),
        "facts": _fact_lines(record.facts),
        "examples": record.facts.get("shown", []),
        "example_titles": TASKS[job.task].examples,
        "tokens": TASKS[job.task].tokens,
        "origin": _origin(record),
        "measured": measured_lines(row),
        "uses": uses,
        "question": row["question"],
        "curves": learning_curves(record),
        "about_curve": PART_OF_DEV,
        "command": f"python -m workflow.scripts.train results/runs/{record.digest}/job.json"
        f" --data results/data/{job.corpus}.npz --device {device}{choice}",
        "factors": record.job.trials[record.follows] if record.follows else {},
    }


def _badges(row: dict) -> list[Badge]:
    """List the badges of a run: of the text that it read, and of how far its bits travel."""
    return [badge_of(row["task"], [row["paper_corpus"]], row["corpus"]), badge_of_bits([row])]


def learning_curves(record: Record) -> list[dict]:
    """Return the charts that templates/chart.js draws: scores on train and dev, and the mean span
    if it was learned.
    """
    unit, title, scale = TASKS[record.job.task].curve
    scores = {
        split: [getattr(point, f"{split}_{unit}") for point in record.curve]
        for split in ("train", "dev")
    }
    spans = [point.mean_span for point in record.curve]
    charts = [_chart(record.curve, title, scores, log=scale == "log")] if record.curve else []
    if None not in spans and len(set(spans)) > 1:
        charts.append(_chart(record.curve, "mean span", {"mean span": spans}))
    return charts


def _chart(
    curve: list[Point], title: str, lines: dict[str, list[float | None]], *, log: bool = False
) -> dict:
    """Make a chart of lines over steps; a missing or infinite number is no point. log: of a
    logarithmic axis.
    """
    apart = -(-len(curve) // NAMED)
    series = [
        {
            "name": name,
            "colour": on_page(colour),
            "points": [_point(value, log) for value in values],
        }
        for (name, values), colour in zip(lines.items(), shades(len(lines)), strict=True)
    ]
    rows = [number(point.step) if place % apart == 0 else "" for place, point in enumerate(curve)]
    return {
        "title": f"{title}, by steps",
        "rows": rows,
        "series": series,
        "joined": True,
        "log": log,
    }


def _point(value: float | None, log: bool) -> dict | None:
    return {"value": value} if is_number(value) and (value > 0 or not log) else None


def measured_lines(row: dict) -> dict:
    """List what was measured of a run's configuration, and what failed. row: that of the run in the
    table of runs.
    """
    quantities = {name: row.get(name) for name in names(*COSTS) if not name.endswith(OF_TURNS)}
    values = {
        name: value for name, value in quantities.items() if not missing(value) and value != []
    }
    lines = _lines(
        {name: _in_turns(row, name) if name in TIMED else value for name, value in values.items()}
    )
    broken = [kind for kind in COSTS if row.get(f"{kind}_status") not in (None, "ok", NOT_RUN)]
    unmeasured = [kind.replace("_", " ") for kind in COSTS if row.get(f"{kind}_status") == NOT_RUN]
    failed = [(kind, row[f"{kind}_status"], row[f"{kind}_reason"]) for kind in broken]
    return {
        "lines": lines,
        "failed": failed,
        "unmeasured": unmeasured,
        "timing": describe_timings([row]),
    }


def _in_turns(row: dict, quantity: str) -> str:
    """Write a time or speed ± half its interval over turns, or its turns where they are few."""
    shown = over_seeds(turn_values(row, quantity), bounds=bounds_of(quantity))
    if shown["points"]:
        return ", ".join(map(number, shown["points"]))
    return within(shown["value"], shown["low"], shown["high"])


def _lines(values: dict) -> list[Line]:
    """Give each value the title and unit of the registry."""
    known = {name: REGISTRY.get(name) for name in values}
    return [
        (known[name].title if known[name] else name, value, known[name].unit if known[name] else "")
        for name, value in values.items()
    ]


def _fact_lines(facts: dict) -> list[Line]:
    listed = {
        name: fact
        for name, fact in facts.items()
        if not isinstance(fact, dict) and name not in UNLISTED
    }
    signatures = [
        (f"{name}, signature", text, "") for name, text in facts.get("signatures", {}).items()
    ]
    return _lines(listed) + signatures


def _origin(record: Record) -> dict:
    """Return the fields of the origin that have a value; source files are counted, for they would
    fill a page.
    """
    origin = record.origin.model_dump(
        exclude={"sources", "accepted", "host_memory_bytes"}, exclude_none=True
    )
    origin["memory of the host"] = number(record.origin.host_memory_bytes, "bytes")
    origin["missing"] = (
        "; ".join(f"{name}: {reason}" for name, reason in record.origin.missing.items())
        or "nothing"
    )
    if record.origin.sources:
        origin["source files"] = (
            f"{len(record.origin.sources)}, each with its digest in record.json"
        )
    if record.origin.accepted:
        origin["accepted changes"] = "; ".join(record.origin.accepted)
    return origin


def _label(row: dict) -> str:
    """Name a run by variant, text, S, k and seed."""
    text = title_of(row["task"], row["corpus"])
    return ", ".join(
        [f"{row['label']} on {text}", *name_places(row["S"], row["k"]), f"seed {row['seed']}"]
    )


def find_uses(
    site: Site, name: str, runs: pd.DataFrame
) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Find where each run is used in its question: digest -> kind -> (address relative to the run's
    page, text).

    The kind `questions` holds the names of the other questions that ask for the run.
    """
    kinds = ("seeds", "tables", "figures", "claims", "questions")
    uses = {digest: {kind: [] for kind in kinds} for digest in runs["digest"]}
    plan = site.results / "plan.json"
    asked = [(row["digest"], row["question"]) for row in (read_json(plan) if plan.exists() else [])]
    for digest, question in dict.fromkeys(asked):
        if digest in uses and question != name:
            uses[digest]["questions"].append(question)
    for _, group in runs.drop_duplicates("digest").groupby("configuration"):
        others = [
            (each.digest, each.seed)
            for each in group[["digest", "seed"]].sort_values("seed").head(SEEDS + 1).itertuples()
        ]
        for run in group["digest"]:
            links = [(f"{digest}.html", f"seed {seed}") for digest, seed in others if digest != run]
            uses[run]["seeds"] += links[:SEEDS]
    for kind, ending in (("tables", "json"), ("figures", "svg")):
        for artefact in getattr(load_question(name), kind):
            path, title = (
                site.results / kind / f"{artefact}.{ending}",
                load_builder(kind, artefact).TITLE,
            )
            for digest in provenance.read(path).runs if path.exists() else ():
                if digest in uses:
                    uses[digest][kind].append((f"index.html#{kind[:-1]}-{artefact}", title))
    for claim in read_claims(site, name):
        for digest in claim["digests"]:
            if digest in uses:
                uses[digest]["claims"].append((f"index.html#claim-{claim['name']}", claim["claim"]))
    return uses


def _describe_choice(choice: dict) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in choice.items() if key != "name")
    return f"{choice['name']} ({settings})" if settings else choice["name"]
