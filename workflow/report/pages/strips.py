"""Claims as strips: what is claimed, printed and measured, on one axis for each unit."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from workflow.claims.evidence import Ledger, LedgerLine
from workflow.claims.ledger import order
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
    """The marks of a claim, as places on its axis.

    claimed: from where to where an effect agrees with the claim.
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
    """Lay out claims by unit, each group on one axis.

    headlines: those of abstracts alone, also without an effect.
    """
    order_of_papers = {name: place for place, name in enumerate(studies())}
    last = len(order_of_papers)
    lines = [line for line in ledger.claims if line.abstract or not headlines]
    lines.sort(key=lambda line: order_of_papers.get(line.paper, last))
    by_unit: dict[tuple[str, str], list[LedgerLine]] = {}
    for line in lines:
        is_bounded = any(bound is not None for bound in line.claimed)
        if line.shown.effect is not None and is_bounded:
            by_unit.setdefault((line.by, line.unit or ""), []).append(line)
    groups = [_group(by, unit, rows, headlines) for (by, unit), rows in by_unit.items()]
    groups.sort(key=lambda group: -len(group.rows))
    without = [line for line in lines if line.shown.effect is None]
    if headlines and without:
        rows = tuple(_row(line, None, headlines) for line in without)
        groups.append(Group(NOT_MEASURED, None, rows))
    return groups


def first_of_each_paper(ledger: Ledger) -> list[Row]:
    """Lay out one headline of each paper that prints its effect: that with the best evidence."""
    by_paper: dict[str, list[LedgerLine]] = {}
    for line in ledger.claims:
        if line.abstract and _printed(line) is not None and line.shown.effect is not None:
            by_paper.setdefault(line.paper, []).append(line)
    rows = []
    for name in studies():
        if name in by_paper:
            best = min(by_paper[name], key=lambda line: order(line.shown))
            axis = _axis([best], log=best.by == "ratio")
            rows.append(_row(best, axis, headlines=False))
    return rows


def _group(by: str, unit: str, lines: list[LedgerLine], headlines: bool) -> Group:
    is_ratio = by == "ratio"
    title = UNIT_TITLES.get(unit, f"Difference, {unit}")
    if is_ratio:
        title = "Ratio, × (logarithmic axis)"
    axis = _axis(lines, log=is_ratio)
    return Group(title, axis, tuple(_row(line, axis, headlines) for line in lines))


# --- the axis --------------------------------------------------------------------------------


def _axis(lines: list[LedgerLine], *, log: bool) -> Axis:
    """Find the axis with every effect, interval and printed value, and with no effect."""
    null = 1.0 if log else 0.0
    values = [null]
    for line in lines:
        evidence = line.shown
        found = (evidence.effect, evidence.low, evidence.high, _printed(line))
        values += [value for value in found if value is not None]
    ends = [math.log(value) for value in values] if log else values
    least = min(ends)
    most = max(ends)
    margin = MARGIN * (most - least or 1.0)
    low = least - margin
    high = most + margin
    ticks = []
    for tick in _ticks_of_ratio(low, high) if log else _ticks(low, high):
        # no minus before a zero
        label = f"{tick + 0.0:g}".replace("-", MINUS)
        ticks.append((_place(tick, low, high, log), label))
    return Axis(
        low=low,
        high=high,
        log=log,
        ticks=tuple(ticks),
        null=_place(null, low, high, log),
        better="" if log else _better(lines),
    )


def _place(value: float, low: float, high: float, log: bool) -> float:
    """Place a value between the ends of an axis, in per cent of its width."""
    scaled = math.log(value) if log else value
    share = (scaled - low) / (high - low)
    return round(100 * min(1.0, max(0.0, share)), 1)


def _ticks(low: float, high: float) -> list[float]:
    ticks = MaxNLocator(TICKS).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


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
    """Say whether lower or higher is better for all measures; empty where they differ."""
    directions = set()
    for line in lines:
        for measure in line.measure:
            quantity = REGISTRY.get(measure)
            directions.add(quantity.better if quantity else "")
    if len(directions) != 1:
        return ""
    return directions.pop() or ""


# --- a row -----------------------------------------------------------------------------------


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
    least, most = line.claimed
    return Strip(
        claimed=(
            0.0 if least is None else axis.place(least),
            100.0 if most is None else axis.place(most),
        ),
        printed=axis.place(_printed(line)),
        low=axis.place(evidence.low),
        effect=axis.place(evidence.effect),
        high=axis.place(evidence.high),
    )


def _where(line: LedgerLine) -> str:
    """Say where the effect was measured: scale, place on the grid, pairs."""
    evidence = line.shown
    parts = [f"scale {evidence.scale}"]
    if not converged(evidence.late_gain):
        parts.append("not converged")
    parts += [evidence.at or "", split_of(line.measure), name_basis(evidence)]
    return ", ".join(part for part in parts if part)


def _notes(line: LedgerLine) -> Iterable[str]:
    """List what changes the conclusion: corpora, tuning and scales that say something else."""
    evidence = line.shown
    if evidence.otherwise_on:
        yield f"Contradicted on {' and '.join(evidence.otherwise_on)}."
    tuned = write_tuned(evidence, line.unit or "")
    if tuned:
        yield f"{tuned[:1].upper()}{tuned[1:]}."
    other = summarise_disagreeing(line)
    if other:
        yield other


def _asked(line: LedgerLine) -> str:
    """Write what the paper prints, or else what it claims, in a word or two."""
    finding = line.finding
    if finding and finding.printed is not None:
        return f"{finding.text}{'×' if line.by == 'ratio' else ''}"
    low, high = line.claimed
    if low is not None and high is not None:
        return "equal"
    bound, word = (high, "lower") if low is None else (low, "higher")
    no_effect = float(line.by == "ratio")
    if bound is None or bound == no_effect:
        return word
    return f"{word} than {number(bound)}"
