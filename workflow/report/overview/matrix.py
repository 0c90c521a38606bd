"""Variants at a glance: a row for every choice on every axis, a column for every score and cost.

A cell is one comparison that isolates the choice. Of several, converged runs come first, then the
strongest scale: `rank`. The p values of a column are corrected for each other.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from workflow.report.answers.answer import BETTER, Difference, Ratio
from workflow.report.answers.variants import median_half
from workflow.report.overview.attention import GATE, GROUPS, MODEL, SHARED_KEYS, choice_name
from workflow.report.overview.collect import Isolated, score_of
from workflow.results.numbers import join, to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import LEVEL, half_width, holm
from workflow.settings.scales import strength

TITLES = {
    "span": "Span",
    "selection": "Selection",
    "normaliser": "Normaliser",
    "position": "Positions",
    "score_scale": "Score scale",
    SHARED_KEYS: "Shared keys",
    GATE: "Output gate",
    MODEL: "Transformer-XL",
}
COSTS = {"macs_executed": "MACs", "train_tokens_per_s": "step time", "memory_train_bytes": "memory"}
INVERTED = ("train_tokens_per_s",)  # shown as the time of a step, the inverse of the speed
EDGE = 4.0  # per cent of an axis that its outermost mark keeps free


@dataclass(frozen=True)
class Mark:
    """Where a cell's number is on the axis of its column, from 0 to 100.

    low, high: None without an interval.
    """

    zero: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cell:
    """One comparison.

    text: its number in words. title: all that is known of it, for a tooltip.
    page: of the question behind it, relative to the reports.
    significant: after Holm correction over the column. better: than the baseline.
    sort: what its column sorts by.
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
    """The choices on one axis.

    baseline: what they are compared with, by column where that differs.
    """

    title: str
    baseline: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Matrix:
    """The groups, and the columns that they share.

    family: how many differences a correction is over, by column.
    """

    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    family: str


@dataclass(frozen=True)
class Quantity:
    """What a column shows: a task's score, of one corpus where each is a task, or a cost."""

    name: str
    task: str | None = None
    corpus: str | None = None

    @property
    def key(self) -> str:
        return f"{self.name}, {self.corpus}" if self.corpus else self.name

    @property
    def is_score(self) -> bool:
        return self.task is not None

    @property
    def title(self) -> str:
        if not self.is_score:
            return COSTS[self.name]
        unit = REGISTRY[self.name].unit
        return f"{self.corpus}, {unit}" if self.corpus else unit


@dataclass(frozen=True)
class Place:
    """The place of a cell: a choice on an axis, and the key of a quantity."""

    axis: str
    choice: str
    quantity: str


def rank(each: Isolated) -> tuple:
    """Order comparisons, the best first.

    Those with a p come first, then converged ones, then those of the strongest scale; of several
    those with the larger models, the most pairs and the largest k. Of the same comparison in two
    questions, the one with more variants comes first: more seeds are behind its deviation.
    """
    difference = each.difference
    has_p = difference is not None and difference.p is not None
    return (
        not has_p,
        0.0 if each.is_converged else each.late_gain,
        -strength(each.scale),
        each.xl,
        -(each.base_S or 0),
        -(difference.n if difference else 0),
        -((difference.k or 0) if difference else 0),
        -each.variants,
        each.question,
    )


def best(found: Iterable[Isolated], chosen: Callable[[Isolated], bool]) -> Isolated | None:
    """Return the best comparison of those that are chosen and have a difference."""
    candidates = []
    for each in found:
        if each.difference and chosen(each):
            candidates.append(each)
    return min(candidates, key=rank, default=None)


def at_strongest(found: Iterable[Isolated]) -> list[Isolated]:
    """Keep, of corpora that are tasks of their own, those of the strongest scale that compares any.

    Another scale's are on its pages: recipes there may not be tuned.
    """
    found = list(found)
    scales: dict[str, set[str]] = {}
    for each in found:
        if each.corpus and each.difference:
            scales.setdefault(each.task, set()).add(each.scale)
    strongest = {task: max(of_task, key=strength) for task, of_task in scales.items()}
    return [
        each
        for each in found
        if not each.corpus or each.scale == strongest.get(each.task, each.scale)
    ]


def make_matrix(found: Iterable[Isolated]) -> Matrix:
    """Lay out all comparisons of models of the scale's own size, with the recipe's settings."""
    of_recipe = [each for each in at_strongest(found) if each.size == 1 and not each.tuned]
    of_recipe.sort(key=rank)
    quantities = _quantities(of_recipe)
    scores = [each for each in quantities if each.is_score]
    chosen = _choose_scores(of_recipe, scores)
    costs = [each for each in quantities if not each.is_score]
    chosen |= _choose_costs(of_recipe, chosen, costs)
    columns = []
    for quantity in quantities:
        of_column = {
            (place.axis, place.choice): each
            for place, each in chosen.items()
            if place.quantity == quantity.key
        }
        if of_column:
            columns.append(_Cells(quantity, of_column))
    axes = {place.axis for place in chosen}
    corrected = [each for each in columns if each.corrected]
    return Matrix(
        columns=tuple(each.column for each in columns),
        groups=tuple(_group(axis, columns) for axis in GROUPS if axis in axes),
        family=join([f"{len(each.corrected)} in {each.quantity.title}" for each in corrected]),
    )


# --- which comparison is behind a cell -------------------------------------------------------


def _quantities(found: list[Isolated]) -> list[Quantity]:
    """List the scores of all tasks that have a comparison, the one with most first, then costs."""
    choices = set()
    for each in found:
        if each.difference:
            choices.add((each.task, each.axis, each.choice))
    counts = Counter(task for task, _, _ in choices)

    def order(task: str) -> tuple[int, str]:
        unit = REGISTRY[score_of(task)].unit
        return -counts[task], unit

    quantities = []
    for task in sorted(counts, key=order):
        corpora = dict.fromkeys(each.corpus for each in found if each.task == task)
        quantities += [Quantity(score_of(task), task, corpus) for corpus in corpora]
    for name in COSTS:
        quantities.append(Quantity(name))
    return quantities


def _choose_scores(found: list[Isolated], scores: list[Quantity]) -> dict[Place, Isolated]:
    """Choose the comparison behind each cell of a score.

    All of an axis have the same choice as their baseline. found: the best first.
    """
    compared = [each for each in found if each.difference]
    chosen: dict[Place, Isolated] = {}
    for quantity in scores:
        column = (quantity.task, quantity.corpus)
        of_task = [each for each in compared if (each.task, each.corpus) == column]
        for axis in GROUPS:
            on_axis = [each for each in of_task if each.axis == axis]
            base = baseline_of(on_axis)
            for each in on_axis:
                if each.base_choice != base:
                    continue
                place = Place(axis, each.choice, quantity.key)
                chosen.setdefault(place, each)
    return chosen


def baseline_of(found: list[Isolated]) -> str | None:
    """Return the choice that most others are compared with.

    Of several it is the one with the best comparison, which comes first.
    """
    compared: dict[str, set[str]] = {}
    for each in found:
        choices = compared.setdefault(each.base_choice, set())
        choices.add(each.choice)

    def number_of_choices(base: str) -> int:
        return len(compared[base])

    return max(compared, key=number_of_choices, default=None)


def _choose_costs(
    found: list[Isolated], scores: dict[Place, Isolated], costs: list[Quantity]
) -> dict[Place, Isolated]:
    """Choose the comparison behind each cell of a cost.

    It is that of the row's first score, else the best one with this cost.
    """
    rows: dict[tuple[str, str], list[Isolated]] = {}
    for place, each in scores.items():
        row = (place.axis, place.choice)
        rows.setdefault(row, []).append(each)
    chosen: dict[Place, Isolated] = {}
    for (axis, choice), of_scores in rows.items():
        base = of_scores[0].base_choice
        alike = [
            each
            for each in found
            if (each.axis, each.choice, each.base_choice) == (axis, choice, base)
        ]
        for quantity in costs:
            candidates = [*of_scores, *alike]
            measured = [each for each in candidates if each.ratio(quantity.name)]
            if measured:
                place = Place(axis, choice, quantity.name)
                chosen[place] = measured[0]
    return chosen


# --- rows and cells --------------------------------------------------------------------------


def _group(axis: str, columns: list["_Cells"]) -> Group:
    choices: dict[str, None] = {}
    for column in columns:
        for on, choice in column.chosen:
            if on == axis:
                choices[choice] = None
    rows = []
    for choice in choices:
        cells = [column.cell(axis, choice) for column in columns]
        name = choice_name(axis, choice)
        rows.append(Row(name, tuple(cells)))
    title = TITLES.get(axis, axis)
    baseline = _baseline(axis, columns)
    return Group(title, baseline, tuple(rows))


def _baseline(axis: str, columns: list["_Cells"]) -> str:
    """Name the baseline of a group; where scores have several, each with its columns."""
    named: dict[str, list[str]] = {}
    for column in columns:
        if not column.quantity.is_score:
            continue
        for base in column.bases(axis):
            name = choice_name(axis, base)
            titles = named.setdefault(name, [])
            titles.append(column.quantity.title)
    if len(named) == 1:
        return next(iter(named))
    parts = []
    for base, titles in named.items():
        listed = ", ".join(titles)
        parts.append(f"{base} ({listed})")
    return join(parts)


@dataclass(frozen=True)
class _Number:
    """A number on the axis of its column with its interval; of a ratio its logarithm."""

    value: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> list[float]:
        ends = (self.value, self.low, self.high)
        return [end for end in ends if end is not None]

    def turned(self) -> "_Number":
        """Change the sign, so that the ends of the interval change places."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return _Number(-self.value, low, high)


class _Cells:
    """The cells of one column, which share an axis and a correction.

    chosen: (axis, choice) -> comparison.
    """

    def __init__(self, quantity: Quantity, chosen: dict[tuple[str, str], Isolated]):
        self.quantity = quantity
        self.chosen = chosen
        self.numbers = {place: self._number(each) for place, each in chosen.items()}
        self.corrected = self._correct()
        numbers = self.numbers.values()
        # one number of decimals for the column
        halves = [half_width(each.low, each.high) for each in numbers]
        self.half = median_half(halves)
        ends = [0.0]
        for each in numbers:
            ends += each.ends
        self.least = min(ends)
        self.most = max(ends)

    def bases(self, axis: str) -> list[str]:
        """List the choices that the comparisons on an axis have as their baselines."""
        found = set()
        for (on, _), each in self.chosen.items():
            if on == axis:
                found.add(each.base_choice)
        return sorted(found)

    @property
    def column(self) -> Column:
        title = self.quantity.title
        if not self.quantity.is_score:
            return Column(title, ("less", "more"), f"{title}: ratio to the baseline")
        score = REGISTRY[self.quantity.name].title
        about = f"{score}: difference from the baseline, with 95 % interval"
        return Column(title, ("worse", "better"), about)

    def _number(self, each: Isolated) -> _Number:
        """Return the number on the axis: better to the right; of a ratio more to the right."""
        name = self.quantity.name
        if self.quantity.is_score:
            difference = each.difference
            number = _Number(difference.mean, difference.low, difference.high)
            return number.turned() if REGISTRY[name].better == "lower" else number
        ratio = each.ratio(name)
        number = _Number(
            value=math.log(ratio.value),
            low=_log(ratio.low),
            high=_log(ratio.high),
        )
        return number.turned() if name in INVERTED else number

    def _correct(self) -> dict[tuple[str, str], float]:
        """Correct the p values of a score's cells for each other."""
        if not self.quantity.is_score:
            return {}
        tested = {}
        for place, each in self.chosen.items():
            if each.difference.p is not None:
                tested[place] = each.difference.p
        corrected = holm(list(tested.values()))
        return dict(zip(tested, corrected, strict=True))

    def cell(self, axis: str, choice: str) -> Cell | None:
        """Make the cell of a row; None where nothing tests it."""
        each = self.chosen.get((axis, choice))
        if each is None:
            return None
        number = self.numbers[axis, choice]
        mark = Mark(
            zero=self._place(0.0),
            value=self._place(number.value),
            low=self._place(number.low),
            high=self._place(number.high),
        )
        if self.quantity.is_score:
            p = self.corrected.get((axis, choice))
            return self._score_cell(each, mark, number.value, p)
        ratio = each.ratio(self.quantity.name)
        return Cell(
            text=write_times(ratio),
            title=describe_cost(each, ratio),
            page=page_of(each),
            significant=False,
            better=number.value < 0,
            mark=mark,
            sort=number.value,
        )

    def _score_cell(self, each: Isolated, mark: Mark, value: float, p: float | None) -> Cell:
        """Make the cell of a score. p: after correction."""
        difference = replace(each.difference, holm=p)
        size = to_digits(abs(difference.mean), self.half)
        return Cell(
            text=f"{difference.bound_of_size} {size} {difference.direction}".strip(),
            title=describe(each, difference),
            page=page_of(each),
            significant=p is not None and p <= LEVEL,
            better=difference.direction == BETTER,
            mark=mark,
            sort=value,
        )

    def _place(self, value: float | None) -> float | None:
        if value is None:
            return None
        width = (self.most - self.least) or 1.0
        drawn = 100 - 2 * EDGE
        return round(EDGE + drawn * (value - self.least) / width, 1)


def _log(value: float | None) -> float | None:
    if value is None:
        return None
    return math.log(value)


# --- in words --------------------------------------------------------------------------------


def page_of(each: Isolated) -> str:
    """Return the address of the question behind a comparison, from the folder of all reports."""
    return f"{each.set}/questions/{each.question}/index.html"


def write_times(ratio: Ratio) -> str:
    """Write a ratio of costs: `0.35×`; of a speed, that of the time.

    >>> write_times(Ratio("a", "b", None, None, "train_tokens_per_s", 2.0, None, None))
    '0.50×'
    """
    value = ratio.value
    if ratio.quantity in INVERTED:
        value = 1 / value
    decimals = 1 if value >= 10 else 2
    return f"{value:.{decimals}f}×"


def write_times_interval(ratio: Ratio) -> str:
    """Write the interval of a ratio over rounds of a timing: `1.08 to 1.14`; empty without one."""
    if ratio.low is None or ratio.high is None:
        return ""
    low = ratio.low
    high = ratio.high
    if ratio.quantity in INVERTED:
        low, high = 1 / high, 1 / low
    return f"{low:.2f} to {high:.2f}"


def where(each: Isolated) -> str:
    """Say where a comparison holds: `scale overnight, S = 512, not converged`."""
    parts = [f"scale {each.scale}"]
    difference = each.difference
    if difference and difference.S:
        parts.append(f"S = {difference.S:g}")
    if difference and difference.k:
        parts.append(f"k = {difference.k:g}")
    if not each.is_converged:
        parts.append("not converged")
    return ", ".join(parts)


def describe(each: Isolated, difference: Difference) -> str:
    """Write all that is known of a cell of a score."""
    names = f"{difference.variant} compared with {difference.baseline}"
    corpora = join([*difference.by_corpus])
    corrected = ""
    if difference.holm is not None:
        corrected = f"; p = {difference.holm:.2g} after Holm correction"
    return f"{names} on {corpora}: {difference.text}{corrected}; {where(each)}"


def describe_cost(each: Isolated, ratio: Ratio) -> str:
    """Write all that is known of a cell of a cost."""
    shown = f"{write_times(ratio)} the {COSTS[ratio.quantity]}"
    interval = write_times_interval(ratio)
    if interval:
        shown += f" (95 % CI {interval} over rounds)"
    names = f"{ratio.variant} compared with {ratio.baseline}"
    return f"{names}: {shown}; {where(each)}"
