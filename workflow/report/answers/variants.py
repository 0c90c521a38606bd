"""The table of an answer: every variant at its S and k, with score, seeds, costs and differences.

The interval of a score is that of its seeds (`workflow.results.statistics.mean_interval`), and that
of a difference is that of its pairs (`workflow.report.answers.effects`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

import pandas as pd

from workflow.report.answers.answer import AS_TESTED
from workflow.report.answers.effects import (
    GRID,
    OWN,
    Effect,
    Scores,
    baselines,
    by_text_and_seed,
    effect_of_pairs,
    matching_runs,
    paired,
    places,
    pooled_effect,
)
from workflow.report.figures.colours import as_named
from workflow.results.censored import bound_of, bound_of_difference
from workflow.results.datasets import with_titles
from workflow.results.numbers import count, missing, to_digits
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import finished
from workflow.results.statistics import FEWEST, LEVEL, half_width, holm, mean_interval, over_seeds
from workflow.results.timings import SPEEDS, over_turns
from workflow.results.trained_enough import hardly_moved, learned_spans, supports_nothing

SHOWN_WITH_SCORE = (
    "mean_span",
    "macs_executed",
    "parameters",
    "train_tokens_per_s",
    "predict_tokens_per_s",
    "memory_train_bytes",
)


@dataclass(frozen=True)
class Seed:
    """One run of a row: its seed, score, digest and status."""

    seed: int
    score: float
    digest: str
    status: str


@dataclass(frozen=True)
class ShownCost:
    """One cost of a row. low, high: its 95 % interval, of a speed over rounds; None of a count."""

    value: float | None
    low: float | None
    high: float | None
    unit: str


@dataclass(frozen=True)
class WrittenEffect:
    """A difference as the three cells of a row show it: mean, interval, and Holm-corrected p.

    sorts: what the cells sort by. told: whether it is significant after correction.
    A page keeps those of all baselines as JSON, from which frame.js changes the baseline.
    """

    texts: tuple[str, str, str]
    sorts: tuple[float | None, float | None, float | None]
    told: bool


NEVER_DIFFERS = WrittenEffect(("no pair differs", "", ""), (0, None, None), False)
AS_TESTED_EQUAL = WrittenEffect((f"none {AS_TESTED}", "", ""), (0, None, None), False)


@dataclass(frozen=True)
class Line:
    """A row: one variant on one corpus at one S and k.

    text: title of the corpus. mean: of the finished seeds. bound: ≥ or ≤ where some seed is
    censored. half, reach: half the width and the ends of its 95 % interval; None of too few seeds.
    points: every seed, failed ones included.
    unmoved: whether its learned spans have hardly moved. effect: to the baseline that is shown.
    costs: those in `VariantTable.costs`.
    """

    text: str
    variant: str
    S: float | None
    k: float | None
    mean: float | None
    bound: str
    half: float | None
    reach: tuple[float, float] | None
    points: list[Seed]
    unmoved: bool
    effect: Effect | None = None
    costs: list[ShownCost] | None = None


@dataclass(frozen=True)
class VariantTable:
    """The rows of all variants and corpora.

    texts: whether there are several corpora. axes: S and k, as far as variants have them.
    costs: titles of the costs. compared: whether any row has a difference.
    unmoved: whether learned spans of any row have hardly moved.
    first: the baseline that is shown first, `OWN` where variants have several.
    baselines: variant -> baseline, of those that are not compared with `rest`.
    rest: the baseline of all others.
    effects: for each baseline, the written difference of each row; None of the baseline's own.
    half, difference_half: the median half width of the intervals, which sets the digits of all
    scores and of all differences. pooled: whether seeds are not paired.
    """

    lines: list[Line]
    texts: bool
    axes: list[str]
    costs: list[str]
    compared: bool
    unmoved: bool
    first: str
    baselines: dict[str, str]
    rest: str
    effects: list[tuple[str, list[WrittenEffect | None]]]
    half: float | None
    difference_half: float | None
    pooled: bool = False


@dataclass(frozen=True)
class _Row:
    """A row with what its differences and costs are computed from.

    finished: its runs with a score. digests: of all its runs.
    scores: by (corpus, seed), none where they support no conclusion.
    """

    line: Line
    finished: pd.DataFrame
    digests: set[str]
    scores: Scores


def variant_table(
    runs: pd.DataFrame, quantity: str, names: dict[str, str], pooled: bool = False
) -> VariantTable:
    """Make the table of the runs of one question.

    quantity: the score. names: titles of costs, where the task has others than the registry.
    pooled: whether seeds are not paired.
    """
    runs = with_titles(as_named(runs))
    rows = _rows_of(runs, quantity)
    effects = _effects_by_baseline(runs, rows, pooled)
    shown = next(iter(effects))
    costs = _shown_costs(runs)
    lines = []
    for row, effect in zip(rows, effects[shown], strict=True):
        of_row = [_cost(row.finished, name) for name in costs]
        lines.append(replace(row.line, effect=effect, costs=of_row))
    written = []
    for variant, against in effects.items():
        written.append((variant, _write_all(lines, against)))
    differing = [line.effect for line in lines if line.effect]
    return VariantTable(
        lines=lines,
        texts=runs["title"].nunique() > 1,
        axes=[axis for axis in GRID if runs[axis].notna().any()],
        costs=[names.get(name, REGISTRY[name].title) for name in costs],
        compared=bool(differing),
        unmoved=any(line.unmoved for line in lines),
        first=shown,
        baselines=_other_baselines(runs),
        rest=runs["variant"].iloc[0],
        effects=written,
        half=median_half(line.half for line in lines),
        difference_half=median_half(effect.half for effect in differing),
        pooled=pooled,
    )


def _rows_of(runs: pd.DataFrame, quantity: str) -> list[_Row]:
    """List the rows: corpora, then variants in the order of the question, then S and k."""
    rows = []
    for text, on_text in runs.groupby("title", sort=False):
        for variant, S, k, group in places(on_text):
            rows.append(_row(text, variant, S, k, group, quantity))
    return rows


def _row(
    text: str,
    variant: str,
    S: float | None,
    k: float | None,
    group: pd.DataFrame,
    quantity: str,
) -> _Row:
    scored = finished(group, quantity)
    values = scored[quantity].astype(float).tolist()
    mean = low = high = None
    if values:
        mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
    has_interval = len(values) >= FEWEST and low < high
    # all of them or none: these are the seeds of one configuration
    unmoved = hardly_moved(group)
    unsupported = supports_nothing(group)
    points = group[["seed", quantity, "digest", "status"]].itertuples(index=False, name=None)
    line = Line(
        text=text,
        variant=variant,
        S=S,
        k=k,
        mean=mean,
        bound=bound_of(scored, quantity),
        half=half_width(low, high) if has_interval else None,
        reach=(low, high) if has_interval else None,
        points=[Seed(*point) for point in points],
        unmoved=bool(unmoved.any()),
    )
    return _Row(
        line=line,
        finished=scored,
        digests=set(group["digest"]),
        scores=by_text_and_seed(group[~unsupported], quantity),
    )


# --- differences -----------------------------------------------------------------------------


def _other_baselines(runs: pd.DataFrame) -> dict[str, str]:
    """Map the variants that are not compared with the first variant to their baselines."""
    first = runs["variant"].iloc[0]
    others = {}
    for variant, base in baselines(runs).items():
        if base != first:
            others[variant] = base
    return others


def _effects_by_baseline(
    runs: pd.DataFrame, rows: list[_Row], pooled: bool
) -> dict[str, list[Effect | None]]:
    """Compute the effect of each row against every variant, the question's baselines first."""
    variants = runs["variant"].unique()
    effects = {variant: _effects_against(variant, rows, pooled) for variant in variants}
    if not _other_baselines(runs):
        return effects
    of = baselines(runs)
    own = []
    for number, row in enumerate(rows):
        base = of.get(row.line.variant, variants[0])
        of_base = effects[base]
        own.append(of_base[number])
    return {OWN: own, **effects}


def _effects_against(base: str, rows: list[_Row], pooled: bool) -> list[Effect | None]:
    """Compute the effect of each row against a variant at the same S and k, or at its only ones."""
    everyone = [row.scores for row in rows] if pooled else None
    keys = []
    for number, row in enumerate(rows):
        line = row.line
        if line.variant == base:
            keys.append((number, line.text, line.S, line.k))
    # `matching_runs` selects among the base's rows as among runs
    of_base = pd.DataFrame(keys, columns=["number", "text", *GRID])
    effects: list[Effect | None] = []
    for row in rows:
        line = row.line
        if line.variant == base:
            effects.append(None)
            continue
        same_text = of_base[of_base["text"] == line.text]
        same_place = matching_runs(same_text, line.S, line.k)
        effect = None
        if len(same_place):
            number = same_place["number"].iloc[0]
            effect = _effect(row, rows[number], everyone)
        effects.append(effect)
    return effects


def _effect(row: _Row, base: _Row, everyone: list[Scores] | None) -> Effect | None:
    """Subtract one row from another; None where they have no pair, or are the same runs.

    everyone: the scores of all rows where seeds are not paired.
    """
    if row.digests <= base.digests:
        return None
    if everyone is not None:
        effect = pooled_effect(row.scores, base.scores, everyone)
    else:
        effect = effect_of_pairs(paired(row.scores, base.scores))
    if effect is None:
        return None
    return replace(effect, bound=bound_of_difference(row.line.bound, base.line.bound))


def _write_all(lines: list[Line], effects: list[Effect | None]) -> list[WrittenEffect | None]:
    """Write the effects of all rows to one baseline, Holm-corrected for their number."""
    known = [effect for effect in effects if effect]
    half = median_half(effect.half for effect in known)
    tested = [effect.p for effect in known if effect.p is not None]
    corrected = iter(holm(tested))
    written: list[WrittenEffect | None] = []
    for effect, line in zip(effects, lines, strict=True):
        if effect is None:
            written.append(None)
            continue
        p = None
        if effect.p is not None:
            p = next(corrected)
        runs = len(line.points)
        written.append(_write(effect, p, half, runs))
    return written


def _write(effect: Effect, p: float | None, half: float | None, runs: int) -> WrittenEffect:
    """Write an effect. p: corrected. half: sets the digits. runs: some may have no pair."""
    if effect.low == effect.high == 0:
        return AS_TESTED_EQUAL if effect.bound else NEVER_DIFFERS
    interval = ""
    if effect.low is not None:
        low = to_digits(effect.low, half)
        high = to_digits(effect.high, half)
        interval = f"{low} to {high}"
    if effect.n != runs:
        pairs = count(effect.n, "pair")
        interval = f"{interval} ({pairs})"
    mean = f"{effect.bound} {to_digits(effect.mean, half)}".strip()
    return WrittenEffect(
        texts=(mean, interval, _write_p(p)),
        sorts=(effect.mean, effect.low, p),
        told=p is not None and p <= LEVEL,
    )


def _write_p(p: float | None) -> str:
    if p is None:
        return ""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2g}"


# --- costs -----------------------------------------------------------------------------------


def _shown_costs(runs: pd.DataFrame) -> list[str]:
    """Name the costs that were measured; spans only where a variant learns them."""
    costs = []
    for name in SHOWN_WITH_SCORE:
        if name in runs and runs[name].notna().any():
            costs.append(name)
    if len(learned_spans(runs)):
        return costs
    return [name for name in costs if name != "mean_span"]


def _cost(runs: pd.DataFrame, name: str) -> ShownCost:
    """Average a cost and give its interval: of a span over seeds, of a speed over rounds."""
    unit = REGISTRY[name].unit
    if name not in SPEEDS and name != "mean_span":
        mean = pd.to_numeric(runs[name]).mean()
        value = None if pd.isna(mean) else float(mean)
        return ShownCost(value, None, None, unit)
    if name in SPEEDS:
        shown = over_turns(runs, name)
    else:
        spans = runs[name].dropna().astype(float)
        shown = over_seeds(spans.tolist(), bounds=bounds_of(name))
    return ShownCost(shown.value, shown.low, shown.high, unit)


def median_half(halves: Iterable[float | None]) -> float | None:
    """Take the median of half intervals, which sets the digits of a column; None without any."""
    known = [half for half in halves if half and not missing(half)]
    if not known:
        return None
    return median(known)
