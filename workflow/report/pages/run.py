"""The page of a run: job, curve, scores, facts, costs, origin, command, and its uses."""

import json
from dataclasses import dataclass, field

import pandas as pd

from workflow.config.choices import AXES, UNSCALED, AttentionChoices
from workflow.config.strict import read_json
from workflow.plan.planned_runs import name_choice
from workflow.report.answers.curves_figure import PART_OF_DEV
from workflow.report.builders import load_builder
from workflow.report.figures.colours import on_page, shades
from workflow.report.pages.question import read_claims
from workflow.report.pages.site import Site
from workflow.results import provenance
from workflow.results.conditions import measured_over
from workflow.results.datasets import Badge, badge_of, badge_of_bits, title_of
from workflow.results.numbers import (
    is_number,
    missing,
    name_places,
    number,
    reach_to_digits,
    to_digits,
    within,
)
from workflow.results.precomputed import NOT_RUN
from workflow.results.record import Point, Record
from workflow.results.registry import COSTS, REGISTRY, bounds_of, names, of_samples
from workflow.results.statistics import half_width, over_seeds, wilson_interval
from workflow.results.timings import TIMED, describe_timings, turn_values
from workflow.results.trained_enough import FAILED_TO_TRAIN
from workflow.settings.questions import load_question
from workflow.tasks.spec import TASKS
from workflow.tasks.task import TaskSpec

# Of the same configuration that a page leads to: links to all would grow with the square of seeds.
SEEDS = 30
# Facts that are too long to list, or have a table of their own.
UNLISTED = ("counts", "second_test_counts", "shown", "looks")
# columns of timings that ± and the sentence below them say
OF_TURNS = ("_turns", "_references", "_spread", "quiet")
OVER_SAMPLES = (
    "Intervals are 95 % Wilson intervals over samples. They leave out how seeds differ, so they "
    "compare no methods."
)
NAMED = 8  # steps of a learning curve, or a few more, that its axis names
Line = tuple[str, object, str]  # title, value, unit
Link = tuple[str, str]  # address relative to the run's page, text


@dataclass(frozen=True)
class Uses:
    """Where a run is used in its question. questions: names of other questions that ask for it."""

    seeds: list[Link] = field(default_factory=list)
    tables: list[Link] = field(default_factory=list)
    figures: list[Link] = field(default_factory=list)
    claims: list[Link] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """A point of a chart; templates/chart.js reads its name."""

    value: float


@dataclass(frozen=True)
class Series:
    """A line of a chart. colour: as CSS. points: None where there is no value."""

    name: str
    colour: str
    points: list[Value | None]


@dataclass(frozen=True)
class Chart:
    """A chart as templates/chart.js draws it.

    rows: labels along the axis, empty for most steps. joined: whether points are joined by lines.
    log: whether the axis of values is logarithmic.
    """

    title: str
    rows: list[str]
    series: list[Series]
    joined: bool
    log: bool


@dataclass(frozen=True)
class Measured:
    """What was measured of a run's configuration.

    failed: kind of cost, status and reason. unmeasured: kinds of costs in words.
    timing: on which machines, in phrases.
    """

    lines: list[Line]
    failed: list[tuple[str, str, str]]
    unmeasured: list[str]
    timing: list[str]


@dataclass(frozen=True)
class ScoreTable:
    """Scores over the condition of a task, such as the test length.

    name, title: of the condition. columns: title and unit of each score. rows: a value of the
    condition, how many samples were scored there, and a cell for each score. note: on intervals.
    """

    name: str
    title: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, int, list[str]]]
    note: str


@dataclass(frozen=True)
class RunPage:
    """What the page shows.

    label: the run in words. asked, question: its question, and the question's name.
    untrained: why it counts as a run that failed to train; None of others. job: as JSON.
    attention: axis -> its choice with its settings. examples: rows of the fact `shown`, titled by
    `example_titles`. command: reproduces the run. factors: of the trial that it follows.
    """

    title: str
    label: str
    asked: str
    record: Record
    untrained: str | None
    job: str
    texts: list[Badge]
    attention: dict[str, str]
    scores: list[Line]
    over_condition: ScoreTable | None
    facts: list[Line]
    examples: list[list[str]]
    example_titles: tuple[str, ...]
    tokens: str
    origin: dict[str, object]
    measured: Measured
    uses: Uses
    question: str
    curves: list[Chart]
    about_curve: str
    command: str
    factors: dict[str, float]


def run_page(record: Record, uses: Uses, row: dict) -> RunPage:
    """Collect what the page of a run shows.

    uses: from `find_uses`. row: that of the run in the table of runs.
    """
    job = record.trained
    task = TASKS[job.task]
    return RunPage(
        title=f"Run {record.digest}",
        label=_label(row),
        asked=load_question(row["question"]).question,
        record=record,
        untrained=row["reason"] if row["status"] == FAILED_TO_TRAIN else None,
        job=json.dumps(record.job.model_dump(), indent=1),
        texts=_badges(row),
        attention=_describe_attention(job.attention),
        scores=_lines(_with_intervals(record)),
        over_condition=score_table(record),
        facts=_fact_lines(record.facts),
        examples=record.facts.get("shown", []),
        example_titles=_example_titles(task),
        tokens=task.tokens,
        origin=_origin(record),
        measured=measured_lines(row),
        uses=uses,
        question=row["question"],
        curves=learning_curves(record),
        about_curve=PART_OF_DEV,
        command=_command(record),
        factors=record.job.trials[record.follows] if record.follows else {},
    )


def _example_titles(task: TaskSpec) -> tuple[str, ...]:
    """List the titles of the columns of quoted outputs."""
    if task.examples is None:
        return ()
    return task.examples.source, task.examples.reference, task.examples.output


def _badges(row: dict) -> list[Badge]:
    """List the badges of a run: of the corpus that it read, and of how far its bits travel."""
    return [badge_of(row["task"], [row["paper_corpus"]], row["corpus"]), badge_of_bits([row])]


def _label(row: dict) -> str:
    """Name a run by variant, corpus, S, k and seed."""
    corpus = title_of(row["task"], row["corpus"])
    places = name_places(row["S"], row["k"])
    return ", ".join([f"{row['label']} on {corpus}", *places, f"seed {row['seed']}"])


def _describe_attention(attention: AttentionChoices) -> dict[str, str]:
    """Describe the choice on each axis, without a score scale that does nothing."""
    described = {}
    for axis in AXES:
        choice = getattr(attention, axis)
        if axis == "score_scale" and choice == UNSCALED:
            continue
        described[axis] = _describe_choice(choice)
    return described


def _describe_choice(choice: dict) -> str:
    settings = ", ".join(f"{key} = {value}" for key, value in choice.items() if key != "name")
    return f"{choice['name']} ({settings})" if settings else choice["name"]


def _command(record: Record) -> str:
    """Write the command that trains the run again, on the kind of device that trained it."""
    device = "cpu" if record.origin.device.startswith("cpu") else "cuda"
    choice = f" --choice results/choices/{name_choice(record.job)}.json" if record.follows else ""
    return (
        f"python -m workflow.scripts.train results/runs/{record.digest}/job.json"
        f" --data results/data/{record.trained.corpus}.npz --device {device}{choice}"
    )


# --- learning curves -------------------------------------------------------------------------


def learning_curves(record: Record) -> list[Chart]:
    """Return the charts of scores on train and dev, and of the mean span if it was learned."""
    curve = record.curve
    if not curve:
        return []
    declared = TASKS[record.job.task].curve
    scores = {
        split: [getattr(point, f"{split}_{declared.unit}") for point in curve]
        for split in ("train", "dev")
    }
    charts = [_chart(curve, declared.title, scores, log=declared.scale == "log")]
    spans = [point.mean_span for point in curve]
    if None not in spans and len(set(spans)) > 1:
        charts.append(_chart(curve, "mean span", {"mean span": spans}))
    return charts


def _chart(
    curve: list[Point], title: str, lines: dict[str, list[float | None]], *, log: bool = False
) -> Chart:
    """Make a chart of lines over steps. log: whether the axis of values is logarithmic."""
    named_every = -(-len(curve) // NAMED)
    series = []
    for (name, values), colour in zip(lines.items(), shades(len(lines)), strict=True):
        points = [_point(value, log) for value in values]
        series.append(Series(name, on_page(colour), points))
    rows = []
    for place, point in enumerate(curve):
        rows.append(number(point.step) if place % named_every == 0 else "")
    return Chart(title=f"{title}, by steps", rows=rows, series=series, joined=True, log=log)


def _point(value: float | None, log: bool) -> Value | None:
    """Make a point; a missing or infinite number is none, nor is zero on a logarithmic axis."""
    if not is_number(value) or (log and value <= 0):
        return None
    return Value(value)


# --- scores, facts, costs and origin ---------------------------------------------------------


def measured_lines(row: dict) -> Measured:
    """List what was measured of a run's configuration, and what failed.

    row: that of the run in the table of runs.
    """
    values = {}
    for name in names(*COSTS):
        value = row.get(name)
        if name.endswith(OF_TURNS) or missing(value) or value == []:
            continue
        values[name] = _write_rounds(row, name) if name in TIMED else value
    failed = []
    unmeasured = []
    for kind in COSTS:
        status = row.get(f"{kind}_status")
        if status == NOT_RUN:
            unmeasured.append(kind.replace("_", " "))
        elif status not in (None, "ok"):
            failed.append((kind, status, row[f"{kind}_reason"]))
    return Measured(
        lines=_lines(values),
        failed=failed,
        unmeasured=unmeasured,
        timing=describe_timings([row]),
    )


def _write_rounds(row: dict, quantity: str) -> str:
    """Write a time or speed ± half its interval over rounds, or its rounds where they are few."""
    shown = over_seeds(turn_values(row, quantity), bounds=bounds_of(quantity))
    if shown.points:
        return ", ".join(map(number, shown.points))
    return within(shown.value, shown.low, shown.high)


def _lines(values: dict[str, object]) -> list[Line]:
    """Give each value the title and unit of the registry."""
    lines: list[Line] = []
    for name, value in values.items():
        quantity = REGISTRY.get(name)
        if quantity is None:
            lines.append((name, value, ""))
        else:
            lines.append((quantity.title, value, quantity.unit))
    return lines


def _with_intervals(record: Record) -> dict[str, object]:
    """Give shares of samples their interval, where the record says how many samples there were.

    A run's own score is that at one of the values of its task's condition.
    """
    values: dict[str, object] = dict(record.metrics)
    for name, value in record.metrics.items():
        for there in record.over_condition:
            if of_samples(name) and there.metrics.get(name) == value:
                values[name] = _write_score(name, value, there.count)
                break
    return values


def score_table(record: Record) -> ScoreTable | None:
    """Make the table of the scores over the condition; None for a record without any."""
    if not record.over_condition:
        return None
    task = TASKS[record.job.task]
    scored = set().union(*(there.metrics for there in record.over_condition))
    listed = [name for name in measured_over(task) if name in scored]
    rows = []
    for there in record.over_condition:
        cells = [_write_score(name, there.metrics.get(name), there.count) for name in listed]
        rows.append((number(there.at), there.count, cells))
    columns = [(REGISTRY[name].title, REGISTRY[name].unit) for name in listed]
    return ScoreTable(
        name=task.condition.name,
        title=task.condition.title,
        columns=columns,
        rows=rows,
        note=OVER_SAMPLES if any(map(of_samples, listed)) else "",
    )


def _write_score(name: str, value: float | None, samples: int) -> str:
    """Write a score; that of a share of samples with its interval over them."""
    if value is None or not of_samples(name):
        return number(value)
    low, high = wilson_interval(value, samples)
    half = half_width(low, high)
    return to_digits(value, half) + reach_to_digits(value, (low, high), half)


def _fact_lines(facts: dict[str, object]) -> list[Line]:
    listed = {
        name: fact
        for name, fact in facts.items()
        if not isinstance(fact, dict) and name not in UNLISTED
    }
    lines = _lines(listed)
    for name, text in facts.get("signatures", {}).items():
        lines.append((f"{name}, signature", text, ""))
    return lines


def _origin(record: Record) -> dict[str, object]:
    """Return the fields of the origin that have a value, by name.

    Source files are counted, for they would fill a page.
    """
    origin = record.origin
    shown = origin.model_dump(
        exclude={"sources", "accepted", "host_memory_bytes"}, exclude_none=True
    )
    shown["memory of the host"] = number(origin.host_memory_bytes, "bytes")
    missing_parts = [f"{name}: {reason}" for name, reason in origin.missing.items()]
    shown["missing"] = "; ".join(missing_parts) or "nothing"
    if origin.sources:
        shown["source files"] = f"{len(origin.sources)}, each with its digest in record.json"
    if origin.accepted:
        shown["accepted changes"] = "; ".join(origin.accepted)
    return shown


# --- where a run is used ---------------------------------------------------------------------


def find_uses(site: Site, name: str, runs: pd.DataFrame) -> dict[str, Uses]:
    """Find where each run of a question is used, by digest."""
    uses = {digest: Uses() for digest in runs["digest"]}
    _add_questions(uses, site, name)
    _add_seeds(uses, runs)
    for kind, ending in (("tables", "json"), ("figures", "svg")):
        for artefact in getattr(load_question(name), kind):
            title = load_builder(kind, artefact).TITLE
            link = (f"index.html#{kind[:-1]}-{artefact}", title)
            path = site.results / kind / f"{artefact}.{ending}"
            digests = provenance.read(path).runs if path.exists() else ()
            for digest in digests:
                if digest in uses:
                    getattr(uses[digest], kind).append(link)
    for claim in read_claims(site, name):
        line = claim.line
        for digest in line.digests:
            if digest in uses:
                uses[digest].claims.append((f"index.html#claim-{line.name}", line.claim))
    return uses


def _add_questions(uses: dict[str, Uses], site: Site, name: str) -> None:
    """Add the other questions that ask for each run, as the plan of the scale has them."""
    plan = site.results / "plan.json"
    rows = read_json(plan) if plan.exists() else []
    asked = dict.fromkeys((row["digest"], row["question"]) for row in rows)
    for digest, question in asked:
        if digest in uses and question != name:
            uses[digest].questions.append(question)


def _add_seeds(uses: dict[str, Uses], runs: pd.DataFrame) -> None:
    """Add the other seeds of each configuration, at most `SEEDS` of them."""
    for _, group in runs.drop_duplicates("digest").groupby("configuration"):
        first = group[["digest", "seed"]].sort_values("seed").head(SEEDS + 1)
        seeds = list(first.itertuples(index=False, name=None))
        for run in group["digest"]:
            links = [(f"{digest}.html", f"seed {seed}") for digest, seed in seeds if digest != run]
            uses[run].seeds.extend(links[:SEEDS])
