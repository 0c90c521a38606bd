"""Claims as strips: what is claimed, what the paper prints and what was measured, on one axis for
each unit.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from workflow.claims.evidence import LedgerLine
from workflow.claims.ledger import Ledger, order
from workflow.claims.measures import split_of
from workflow.claims.published import studies
from workflow.report.pages.effect_words import (
    name_basis,
    say_effect,
    summarise_disagreeing,
    write_tuned,
)
from workflow.results.numbers import MINUS, number
from workflow.results.registry import REGISTRY
from workflow.results.trained_enough import converged

TICKS = 5  # at most, or a few less
MARGIN = 0.04  # of the axis, at both ends
STEPS = ((1, 2, 5), (1, 3), (1,))  # of a logarithmic axis, the finest first
UNIT_TITLES = {
    "of S": "Mean span as a fraction of S",
    "power of S": "Exponent of growth with S",
    "power of n": "Exponent of growth with n",
}
NOT_MEASURED = "No effect measured"


@dataclass(frozen=True)
class Axis:
    """The axis that the claims of a unit share. low, high: its ends, as logarithms of a ratio.

    ticks: (place, label). null: the place of no effect. better: `lower` or `higher`, empty where it
    depends on the claim. Places are per cent of its width.
    """

    low: float
    high: float
    log: bool
    ticks: tuple[tuple[float, str], ...]
    null: float
    better: str

    def place(self, value: float | None) -> float | None:
        """Place a value; one beyond an end is placed at the end."""
        return None if value is None else _place(value, self.low, self.high, self.log)


@dataclass(frozen=True)
class Strip:
    """The marks of a claim, as places on its axis. claimed: from where to where an effect agrees
    with the claim.
    """

    claimed: tuple[float, float]
    printed: float | None
    low: float | None
    effect: float
    high: float | None


@dataclass(frozen=True)
class Row:
    """A claim. name, claim, paper, verdict: as in the ledger.

    strip: None where there is no effect. effect, interval: in words, `0.026 bpc lower` and `0.007
    to 0.044`. asked: what the paper prints, or else claims. at: where it was measured. notes: what
    changes the conclusion, of headlines.
    """

    name: str
    claim: str
    paper: str
    verdict: str
    strip: Strip | None
    effect: str
    interval: str
    asked: str
    at: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """The claims with an effect in one unit, on one axis; those without an effect have none."""

    title: str
    axis: Axis | None
    rows: tuple[Row, ...]


def forest_of(ledger: Ledger, *, headlines: bool = True) -> list[Group]:
    """Lay out claims by unit, each group on one axis. headlines: those of abstracts, also without
    an effect.
    """
    places = {name: place for place, name in enumerate(studies())}
    lines = sorted(ledger.claims, key=lambda line: places.get(line.paper, len(places)))
    lines = [line for line in lines if line.abstract or not headlines]
    by_unit: dict[tuple[str, str], list[LedgerLine]] = {}
    for line in lines:
        if line.shown.effect is not None and any(bound is not None for bound in line.claimed):
            by_unit.setdefault((line.by, line.unit or ""), []).append(line)
    groups = [_group(by, unit, rows, headlines) for (by, unit), rows in by_unit.items()]
    groups.sort(key=lambda group: -len(group.rows))
    others = [line for line in lines if line.shown.effect is None] if headlines else []
    return groups + (
        [Group(NOT_MEASURED, None, tuple(_row(line, None, headlines) for line in others))]
        if others
        else []
    )


def first_of_each_paper(ledger: Ledger) -> list[Row]:
    """Lay out one headline of each paper that prints its effect: the one with the best evidence
    here.
    """
    by_paper: dict[str, list[LedgerLine]] = {}
    for line in ledger.claims:
        if line.abstract and _printed(line) is not None and line.shown.effect is not None:
            by_paper.setdefault(line.paper, []).append(line)
    papers = [name for name in studies() if name in by_paper]
    best = [min(by_paper[name], key=lambda line: order(line.shown)) for name in papers]
    return [_row(line, _axis([line], log=line.by == "ratio"), headlines=False) for line in best]


def _group(by: str, unit: str, lines: list[LedgerLine], headlines: bool) -> Group:
    title = (
        "Ratio, × (logarithmic axis)"
        if by == "ratio"
        else UNIT_TITLES.get(unit, f"Difference, {unit}")
    )
    axis = _axis(lines, log=by == "ratio")
    return Group(title, axis, tuple(_row(line, axis, headlines) for line in lines))


def _axis(lines: list[LedgerLine], *, log: bool) -> Axis:
    """Find the axis that holds every effect, interval and printed value of these claims, and no
    effect.
    """
    null = 1.0 if log else 0.0
    values = [null]
    for line in lines:
        evidence = line.shown
        found = (evidence.effect, evidence.low, evidence.high, _printed(line))
        values += [value for value in found if value is not None]
    scale = math.log if log else float
    ends = [scale(value) for value in values]
    margin = MARGIN * (max(ends) - min(ends) or 1.0)
    low, high = min(ends) - margin, max(ends) + margin
    ticks = _ticks_of_ratio(low, high) if log else _ticks(low, high)
    places = tuple(
        (_place(tick, low, high, log), f"{tick + 0.0:g}".replace("-", MINUS)) for tick in ticks
    )
    return Axis(low, high, log, places, _place(null, low, high, log), "" if log else _better(lines))


def _place(value: float, low: float, high: float, log: bool) -> float:
    scaled = math.log(value) if log else value
    return round(100 * min(1.0, max(0.0, (scaled - low) / (high - low))), 1)


def _ticks(low: float, high: float) -> list[float]:
    return [
        float(tick) for tick in MaxNLocator(TICKS).tick_values(low, high) if low <= tick <= high
    ]


def _ticks_of_ratio(low: float, high: float) -> list[float]:
    """List round ratios between two logarithms, as many as fit."""
    decades = range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
    for steps in STEPS:
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= math.log(tick) <= high]
        if len(ticks) <= TICKS + 1:
            break
    return ticks


def _better(lines: list[LedgerLine]) -> str:
    """Say whether lower or higher is better for all measures of these claims; empty where they
    differ.
    """
    measures = {measure for line in lines for measure in line.measure}
    found = {REGISTRY[measure].better if measure in REGISTRY else "" for measure in measures}
    return found.pop() or "" if len(found) == 1 else ""


def _printed(line: LedgerLine) -> float | None:
    return line.finding.printed if line.finding else None


def _row(line: LedgerLine, axis: Axis | None, headlines: bool) -> Row:
    evidence = line.shown
    effect, interval = say_effect(evidence, line) if axis else ("", "")
    return Row(
        name=line.name,
        claim=line.claim,
        paper=studies()[line.paper].authors or "",
        verdict=line.overall,
        strip=_strip(line, axis) if axis else None,
        effect=effect,
        interval=interval,
        asked=_asked(line),
        at=_where(line) if axis else line.why or "",
        notes=tuple(_notes(line)) if axis and headlines else (),
    )


def _strip(line: LedgerLine, axis: Axis) -> Strip:
    evidence = line.shown
    low, high = line.claimed
    claimed = (0.0 if low is None else axis.place(low), 100.0 if high is None else axis.place(high))
    marks = {key: axis.place(getattr(evidence, key)) for key in ("low", "effect", "high")}
    return Strip(claimed=claimed, printed=axis.place(_printed(line)), **marks)


def _where(line: LedgerLine) -> str:
    """Say where the effect was measured: scale, place on the grid, pairs."""
    evidence = line.shown
    late = "" if converged(evidence.late_gain) else "not converged"
    split = split_of(line.measure)
    parts = [
        f"scale {evidence.scale}",
        late,
        evidence.at or "",
        split,
        name_basis(evidence),
    ]
    return ", ".join(filter(None, parts))


def _notes(line: LedgerLine) -> Iterable[str]:
    """List what changes the conclusion: corpora, tuning and scales that say something else."""
    evidence = line.shown
    if evidence.otherwise_on:
        yield f"Contradicted on {' and '.join(evidence.otherwise_on)}."
    if tuned := write_tuned(evidence, line.unit or ""):
        yield f"{tuned[:1].upper()}{tuned[1:]}."
    if other := summarise_disagreeing(line):
        yield other


def _asked(line: LedgerLine) -> str:
    """Write what the paper prints, or else what it claims, in a word or two."""
    finding = line.finding
    if finding and finding.printed is not None:
        return f"{finding.text}{'×' if line.by == 'ratio' else ''}"
    low, high = line.claimed
    neutral = float(line.by == "ratio")
    bound, word = (high, "lower") if low is None else (low, "higher")
    if None not in (low, high):
        return "equal"
    return word if bound is None or bound == neutral else f"{word} than {number(bound)}"
