"""Variants at a glance: a row for every choice on every axis, a column for every score and cost.

A cell is one comparison that isolates the choice. Of several, converged runs come first, then the
strongest scale.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from workflow.plan.scales import strength
from workflow.report.answers.answer import BETTER, Difference, Ratio
from workflow.report.answers.variants import median_half
from workflow.report.overview.attention import GROUPS, MODEL, SHARED_KEYS, choice_name
from workflow.report.overview.collect import Isolated, score_of
from workflow.results.numbers import join, to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import LEVEL, half_width, holm

TITLES = {
    "span": "Span",
    "selection": "Selection",
    "normaliser": "Normaliser",
    "position": "Positions",
    SHARED_KEYS: "Shared keys",
    MODEL: "Transformer-XL",
}
COSTS = {"macs_executed": "MACs", "train_tokens_per_s": "step time", "memory_train_bytes": "memory"}
INVERTED = ("train_tokens_per_s",)  # shown as the time of a step, the inverse of the speed
EDGE = 4.0  # per cent of an axis that its outermost mark keeps free


@dataclass(frozen=True)
class Mark:
    """Where a cell's number is on the axis of its column, from 0 to 100. low, high: None without an
    interval.
    """

    zero: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cell:
    """One comparison. text: its number in words. title: all that is known of it, for a tooltip.

    page: of the question behind it, relative to the reports. significant: after Holm correction
    over the column.
    better: whether the number is better than the baseline's. sort: what its column sorts by.
    """

    text: str
    title: str
    page: str
    significant: bool
    better: bool
    mark: Mark
    sort: float


@dataclass(frozen=True)
class Column:
    """One score or cost. ends: the words at both ends of its axis. about: a tooltip."""

    title: str
    ends: tuple[str, str]
    about: str


@dataclass(frozen=True)
class Row:
    """One choice; a cell is None where nothing tests it."""

    label: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Group:
    """The choices on one axis. baseline: what they are compared with, by column where that
    differs.
    """

    title: str
    baseline: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Matrix:
    """The groups, and the columns that they share. family: how many differences a correction is
    over, by column.
    """

    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    family: str


@dataclass(frozen=True)
class Quantity:
    """What a column shows: a task's score, or a cost."""

    name: str
    task: str | None = None

    @property
    def is_score(self) -> bool:
        return self.task is not None

    @property
    def title(self) -> str:
        return REGISTRY[self.name].unit if self.is_score else COSTS[self.name]


Place = tuple[str, str, str]  # axis, choice and name of a quantity


def rank(each: Isolated) -> tuple:
    """Order comparisons, the best first: converged, then of the strongest scale, then by how much
    is behind them.
    """
    late = 0.0 if each.is_converged else each.late_gain
    difference = each.difference
    known = difference is not None and difference.p is not None
    n = difference.n if difference else 0
    return not known, late, -strength(each.scale), each.xl, -(each.base_S or 0), -n, each.question


def make_matrix(found: Iterable[Isolated]) -> Matrix:
    """Lay out all comparisons of models of the scale's own size, with the recipe's settings."""
    found = sorted((each for each in found if each.size == 1 and not each.tuned), key=rank)
    quantities = _quantities(found)
    chosen = _choose_scores(found, [each for each in quantities if each.is_score])
    chosen |= _choose_costs(found, chosen, [each for each in quantities if not each.is_score])
    quantities = [each for each in quantities if any(place[2] == each.name for place in chosen)]
    columns = [
        _Cells(quantity, {p[:2]: each for p, each in chosen.items() if p[2] == quantity.name})
        for quantity in quantities
    ]
    groups = tuple(
        _group(axis, columns) for axis in GROUPS if any(place[0] == axis for place in chosen)
    )
    family = join(
        [f"{len(each.corrected)} in {each.quantity.title}" for each in columns if each.corrected]
    )
    return Matrix(tuple(each.column for each in columns), groups, family)


def _quantities(found: list[Isolated]) -> list[Quantity]:
    """List the scores of all tasks that have a comparison, the one with most first, then the
    costs.
    """
    choices = {(each.task, each.axis, each.choice) for each in found if each.difference}
    tasks = [task for task, *_ in choices]
    ordered = sorted({*tasks}, key=lambda task: (-tasks.count(task), REGISTRY[score_of(task)].unit))
    return [Quantity(score_of(task), task) for task in ordered] + [Quantity(name) for name in COSTS]


def _choose_scores(found: list[Isolated], scores: list[Quantity]) -> dict[Place, Isolated]:
    """Choose the comparison behind each cell of a score; all of an axis have the same choice as
    their baseline.
    """
    chosen: dict[Place, Isolated] = {}
    for quantity in scores:
        of_task = [each for each in found if each.task == quantity.task and each.difference]
        for axis in GROUPS:
            on_axis = [each for each in of_task if each.axis == axis]
            base = baseline_of(on_axis)
            for each in on_axis:
                if each.base_choice == base:
                    chosen.setdefault((axis, each.choice, quantity.name), each)
    return chosen


def baseline_of(found: list[Isolated]) -> str | None:
    """Return the choice that most others are compared with; of several the one with the best
    comparison.
    """
    compared = {
        base: len({each.choice for each in found if each.base_choice == base})
        for base in _bases(found)
    }
    # the first of equals, and the best comparison comes first
    return max(compared, key=compared.get, default=None)


def _bases(found: list[Isolated]) -> list[str]:
    return list(dict.fromkeys(each.base_choice for each in found))


def _choose_costs(
    found: list[Isolated], scores: dict[Place, Isolated], costs: list[Quantity]
) -> dict[Place, Isolated]:
    """Choose the comparison behind each cell of a cost: that of the row's first score, else the
    best that has one.
    """
    chosen: dict[Place, Isolated] = {}
    rows: dict[tuple[str, str], list[Isolated]] = {}
    for (axis, choice, _), each in scores.items():
        rows.setdefault((axis, choice), []).append(each)
    for (axis, choice), of_scores in rows.items():
        alike = [each for each in found if (each.axis, each.choice) == (axis, choice)]
        alike = [each for each in alike if each.base_choice == of_scores[0].base_choice]
        for quantity in costs:
            measured = [each for each in (*of_scores, *alike) if each.ratio(quantity.name)]
            if measured:
                chosen[axis, choice, quantity.name] = measured[0]
    return chosen


def _group(axis: str, columns: list["_Cells"]) -> Group:
    choices = list(
        dict.fromkeys(choice for each in columns for on, choice in each.chosen if on == axis)
    )
    rows = tuple(
        Row(choice_name(axis, choice), tuple(each.cell(axis, choice) for each in columns))
        for choice in choices
    )
    return Group(TITLES.get(axis, axis), _baseline(axis, columns), rows)


def _baseline(axis: str, columns: list["_Cells"]) -> str:
    """Name the baseline of a group; where scores have several, each with its columns."""
    named: dict[str, list[str]] = {}
    for column in columns:
        bases = {each.base_choice for (on, _), each in column.chosen.items() if on == axis}
        if column.quantity.is_score:
            for base in sorted(bases):
                named.setdefault(choice_name(axis, base), []).append(column.quantity.title)
    if len(named) == 1:
        return next(iter(named))
    return join([f"{base} ({', '.join(titles)})" for base, titles in named.items()])


class _Cells:
    """The cells of one column, which share an axis and a correction. chosen: (axis, choice) ->
    comparison.
    """

    def __init__(self, quantity: Quantity, chosen: dict[tuple[str, str], Isolated]):
        self.quantity, self.chosen = quantity, chosen
        self.numbers = {place: self._numbers(each) for place, each in chosen.items()}
        self.corrected = self._correct()
        # one number of decimals for the column
        self.half = median_half(half_width(low, high) for _, low, high in self.numbers.values())
        ends = [end for numbers in self.numbers.values() for end in numbers if end is not None]
        self.least, self.most = min([0.0, *ends]), max([0.0, *ends])

    @property
    def column(self) -> Column:
        title = self.quantity.title
        if self.quantity.is_score:
            about = f"{REGISTRY[self.quantity.name].title}: difference from the baseline, with 95 % interval"
            return Column(title, ("worse", "better"), about)
        return Column(title, ("less", "more"), f"{title}: ratio to the baseline")

    def _numbers(self, each: Isolated) -> tuple[float, float | None, float | None]:
        """Return value, low and high on the axis: better to the right; of a ratio its logarithm,
        more to the right.
        """
        if self.quantity.is_score:
            sign = -1 if REGISTRY[self.quantity.name].better == "lower" else 1
            difference = each.difference
            return signed(sign, difference.mean, difference.low, difference.high)
        ratio = each.ratio(self.quantity.name)
        sign = -1 if self.quantity.name in INVERTED else 1
        logs = [
            None if value is None else math.log(value)
            for value in (ratio.value, ratio.low, ratio.high)
        ]
        return signed(sign, *logs)

    def _correct(self) -> dict[tuple[str, str], float]:
        """Correct the p values of a score's cells for each other."""
        if not self.quantity.is_score:
            return {}
        tested = {
            place: each.difference.p
            for place, each in self.chosen.items()
            if each.difference.p is not None
        }
        return dict(zip(tested, holm(list(tested.values())), strict=True))

    def cell(self, axis: str, choice: str) -> Cell | None:
        """Make the cell of a row; None where nothing tests it."""
        each = self.chosen.get((axis, choice))
        if each is None:
            return None
        value, low, high = self.numbers[axis, choice]
        corrected = self.corrected.get((axis, choice))
        page = page_of(each)
        mark = Mark(self._place(0.0), self._place(value), self._place(low), self._place(high))
        significant = corrected is not None and corrected <= LEVEL
        if self.quantity.is_score:
            difference = replace(each.difference, holm=corrected)
            text = f"{to_digits(abs(difference.mean), self.half)} {difference.direction}"
            better = difference.direction == BETTER
            return Cell(text, describe(each, difference), page, significant, better, mark, value)
        ratio = each.ratio(self.quantity.name)
        text = write_times(ratio)
        return Cell(text, describe_cost(each, ratio), page, False, value < 0, mark, value)

    def _place(self, value: float | None) -> float | None:
        if value is None:
            return None
        width = (self.most - self.least) or 1.0
        return round(EDGE + (100 - 2 * EDGE) * (value - self.least) / width, 1)


def signed(
    sign: int, value: float, low: float | None, high: float | None
) -> tuple[float, float | None, float | None]:
    """Turn a number with its interval round, if sign is -1."""
    if sign == 1:
        return value, low, high
    return -value, None if high is None else -high, None if low is None else -low


def page_of(each: Isolated) -> str:
    """Return the address of the question behind a comparison, relative to the folder of all
    reports.
    """
    return f"{each.set}/questions/{each.question}/index.html"


def write_times(ratio: Ratio) -> str:
    """Write a ratio of costs: `0.35×`; of a speed, that of the time.

    >>> write_times(Ratio("a", "b", None, None, "train_tokens_per_s", 2.0, None, None))
    '0.50×'
    """
    value = 1 / ratio.value if ratio.quantity in INVERTED else ratio.value
    return f"{value:.1f}×" if value >= 10 else f"{value:.2f}×"


def write_times_interval(ratio: Ratio) -> str:
    """Write the interval of a ratio over rounds of a timing: `1.08 to 1.14`; empty where there is
    none.
    """
    if ratio.low is None or ratio.high is None:
        return ""
    ends = (
        (1 / ratio.high, 1 / ratio.low) if ratio.quantity in INVERTED else (ratio.low, ratio.high)
    )
    return " to ".join(f"{end:.2f}" for end in ends)


def where(each: Isolated) -> str:
    """Say where a comparison holds: `scale overnight, S = 512, not converged`."""
    difference = each.difference
    parts = [f"scale {each.scale}"]
    if difference:
        parts += [
            f"{axis} = {value:g}"
            for axis, value in (("S", difference.S), ("k", difference.k))
            if value
        ]
    return ", ".join([*parts, *([] if each.is_converged else ["not converged"])])


def describe(each: Isolated, difference: Difference) -> str:
    """Write all that is known of a cell of a score."""
    corrected = (
        "" if difference.holm is None else f"; p = {difference.holm:.2g} after Holm correction"
    )
    corpora = f" on {join([*difference.by_corpus])}"
    sides = f"{difference.variant} compared with {difference.baseline}{corpora}"
    return f"{sides}: {difference.text}{corrected}; {where(each)}"


def describe_cost(each: Isolated, ratio: Ratio) -> str:
    """Write all that is known of a cell of a cost."""
    interval = write_times_interval(ratio)
    shown = f"{write_times(ratio)} the {COSTS[ratio.quantity]}"
    shown += f" (95 % CI {interval} over rounds)" if interval else ""
    return f"{ratio.variant} compared with {ratio.baseline}: {shown}; {where(each)}"


def best(found: Iterable[Isolated], chosen: Callable[[Isolated], bool]) -> Isolated | None:
    """Return the best comparison of those that are chosen and have a difference."""
    return min((each for each in found if each.difference and chosen(each)), key=rank, default=None)
