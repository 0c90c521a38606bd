"""The differences of an answer as a forest: a row for each, on one axis, in per cent of its
width.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from workflow.report.answers.answer import Answer, Difference
from workflow.report.answers.effects import GRID, place_on
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

    variant: as in figures. colour: as in figures, for CSS. label: with S and k where the variant
    has several rows.
    baseline: empty where all rows have the same. text: all numbers. number, interval: `0.91 worse`,
    `0.30 to 1.52`. mean, low, high: of the difference; an interval may be missing.
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
    """

    rows: tuple[Row, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]
    left: str
    right: str
    quantity: str


def forest_of(answer: Answer, colours: Mapping[str, str]) -> Forest | None:
    """Lay out the differences of an answer; None where there is none. colours: of the variants, as
    hex.
    """
    shown = _shown(answer)
    if not shown:
        return None
    ends = [0.0]
    for each in shown:
        values = (each.mean, each.low, each.high, *each.by_corpus.values())
        ends += [value for value in values if value is not None]
    margin = MARGIN * (max(ends) - min(ends) or 1.0)
    least, most = min(ends) - margin, max(ends) + margin

    def place(value: float) -> float:
        return round(100 * (value - least) / (most - least), 2)

    ticks = [tick for tick in MaxNLocator(TICKS).tick_values(least, most) if least <= tick <= most]
    quantity = REGISTRY[shown[0].quantity]
    sides = ("better", "worse") if quantity.better == "lower" else ("worse", "better")
    return Forest(
        rows=tuple(_row(each, shown, answer, colours, place) for each in shown),
        zero=place(0.0),
        ticks=tuple((place(tick), f"{tick + 0.0:g}".replace("-", MINUS)) for tick in ticks),
        left=sides[0],
        right=sides[1],
        quantity=f"{quantity.title}, {shown[0].unit}"
        if shown[0].unit not in quantity.title
        else quantity.title,
    )


def _shown(answer: Answer) -> list[Difference]:
    """List the differences by variant, S and k; of too many the last of each variant."""
    order = [each.variant for each in answer.differences]
    every = sorted(
        answer.differences, key=lambda each: (order.index(each.variant), each.S or 0, each.k or 0)
    )
    return every if len(every) <= MOST else [*{each.variant: each for each in every}.values()]


def _row(
    each: Difference,
    shown: list[Difference],
    answer: Answer,
    colours: Mapping[str, str],
    place: Callable[[float], float],
) -> Row:
    same = [other for other in shown if other.variant == each.variant]
    axes = [axis for axis in GRID if len({getattr(other, axis) for other in same}) > 1]
    at = place_on(axes, each.S, each.k).replace(" at ", ", ").replace(" = ", NO_BREAK)
    several = len(each.by_corpus) > 1
    return Row(
        variant=each.variant,
        label=f"{each.variant}{at}",
        baseline="" if answer.baseline else each.baseline,
        colour=on_page(colours[each.variant]),
        text=f"{each.text}, {each.state}",
        number=_write_number(each),
        interval=each.interval,
        mean=place(each.mean),
        low=None if each.low is None else place(each.low),
        high=None if each.high is None else place(each.high),
        corpora=tuple((title, place(mean)) for title, mean in each.by_corpus.items())
        if several
        else (),
        significant=each.significant,
    )


def _write_number(each: Difference) -> str:
    """Write size and direction without the unit, which the axis has: `0.91 worse`."""
    if not each.mean:
        return "no difference"
    return f"{to_digits(abs(each.mean), half_width(each.low, each.high))} {each.direction}"
