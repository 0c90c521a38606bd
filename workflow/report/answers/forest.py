"""The differences of an answer as a forest: a row for each, on one axis, in per cent of its width.

A row has the colour that its variant has in figures, as CSS: `workflow.report.figures.colours`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from workflow.report.answers.answer import (
    AS_TESTED,
    Answer,
    Difference,
    by_corpus,
    last_of_variants,
)
from workflow.report.answers.effects import place_on, varying_axes
from workflow.report.figures.colours import on_page
from workflow.results.numbers import MINUS, to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import half_width

MOST = 24  # rows; of more, each variant has one, at its largest S and k
TICKS = 4
NO_BREAK = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
MARGIN = 0.06  # of the axis, at both ends


@dataclass(frozen=True)
class Row:
    """One difference; places are per cent of the width of the axis.

    variant: as in figures. label: with S and k where the variant has several rows.
    baseline: empty where all rows have the same. colour: as CSS.
    text: all numbers. number, interval: `0.91 worse`, `0.30 to 1.52`.
    mean, low, high: places of the difference and of its interval, which may be missing.
    corpora: (title, place) of the mean on each of several corpora.
    """

    variant: str
    label: str
    baseline: str
    colour: str
    text: str
    number: str
    interval: str
    mean: float
    low: float | None
    high: float | None
    corpora: tuple[tuple[str, float], ...]
    significant: bool


@dataclass(frozen=True)
class Forest:
    """Rows over an axis. zero: where there is no difference. ticks: (place, label).

    left, right: `better` or `worse`, on either side of zero. quantity: what differs, with its unit.
    has_bounds: whether censored scores make some difference a bound.
    """

    rows: tuple[Row, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]
    left: str
    right: str
    quantity: str
    has_bounds: bool


def forest_of(answer: Answer, colours: Mapping[str, str]) -> Forest | None:
    """Lay out the differences of an answer; None where there is none.

    colours: of the variants, as hex.
    """
    shown = _shown(answer)
    if not shown:
        return None
    axis = _axis_of(shown)
    ticks = MaxNLocator(TICKS).tick_values(axis.least, axis.most)
    inside = [tick for tick in ticks if axis.least <= tick <= axis.most]
    quantity = REGISTRY[shown[0].quantity]
    unit = shown[0].unit
    left, right = ("better", "worse") if quantity.better == "lower" else ("worse", "better")
    return Forest(
        rows=tuple(_row(each, shown, answer, colours, axis) for each in shown),
        zero=axis.place(0.0),
        ticks=tuple((axis.place(tick), _write_tick(tick)) for tick in inside),
        left=left,
        right=right,
        quantity=quantity.title if unit in quantity.title else f"{quantity.title}, {unit}",
        has_bounds=any(each.bound for each in shown),
    )


def _shown(answer: Answer) -> list[Difference]:
    """List the differences by variant, S and k, corpus by corpus where these are compared alone; of
    too many the last of each variant.
    """
    variants = [each.variant for each in answer.differences]
    corpora = list(by_corpus(answer.differences))

    def place(each: Difference) -> tuple:
        corpus = corpora.index(each.corpora[0]) if corpora else 0
        return corpus, variants.index(each.variant), each.S or 0, each.k or 0

    every = sorted(answer.differences, key=place)
    if len(every) <= MOST:
        return every
    return last_of_variants(every)


@dataclass(frozen=True)
class _Axis:
    """The axis that all rows share, from the least to the most of what it shows."""

    least: float
    most: float

    def place(self, value: float) -> float:
        """Place a value, in per cent of the width."""
        return round(100 * (value - self.least) / (self.most - self.least), 2)


def _axis_of(differences: list[Difference]) -> _Axis:
    """Find the axis that holds zero and all means and intervals."""
    ends = [0.0]
    for each in differences:
        values = (each.mean, each.low, each.high, *each.by_corpus.values())
        ends += [value for value in values if value is not None]
    margin = MARGIN * (max(ends) - min(ends) or 1.0)
    return _Axis(min(ends) - margin, max(ends) + margin)


def _write_tick(value: float) -> str:
    # no minus before a zero
    return f"{value + 0.0:g}".replace("-", MINUS)


def _row(
    each: Difference,
    shown: list[Difference],
    answer: Answer,
    colours: Mapping[str, str],
    axis: _Axis,
) -> Row:
    same = [other for other in shown if other.variant == each.variant]
    varied = varying_axes(same)
    place = place_on(varied, each.S, each.k)
    place = place.replace(" at ", ", ")
    place = place.replace(" = ", NO_BREAK)
    if by_corpus(shown):
        place += f", {each.corpora[0]}"
    corpora = each.by_corpus if len(each.by_corpus) > 1 else {}
    return Row(
        variant=each.variant,
        label=f"{each.variant}{place}",
        baseline="" if answer.baseline else each.baseline,
        colour=on_page(colours[each.variant]),
        text=f"{each.text}, {each.state}",
        number=_write_number(each),
        interval=each.interval,
        mean=axis.place(each.mean),
        low=None if each.low is None else axis.place(each.low),
        high=None if each.high is None else axis.place(each.high),
        corpora=tuple((title, axis.place(mean)) for title, mean in corpora.items()),
        significant=each.significant,
    )


def _write_number(each: Difference) -> str:
    """Write size and direction without the unit, which the axis has: `0.91 worse`."""
    if not each.mean:
        return f"no difference {AS_TESTED}" if each.bound else "no difference"
    size = to_digits(abs(each.mean), half_width(each.low, each.high))
    return f"{each.bound_of_size} {size} {each.direction}".strip()
