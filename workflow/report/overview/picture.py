"""Quality against cost: a small panel for every corpus and scale, drawn as shapes.

A template writes the shapes as SVG. Up and to the left is better in every panel: the axis of a
score is turned where lower is better. What papers print has panels of its own, for their models and
corpora are others. A mark has the colour of its attention in all figures: `_looks`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pandas as pd

from workflow.claims.published import Published, Study, studies
from workflow.report.figures.colours import COLOURS, attention_of, on_page
from workflow.report.overview.attention import Attention
from workflow.report.overview.collect import Point, score_of
from workflow.results.numbers import to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import half_width
from workflow.results.trained_enough import converged
from workflow.settings.scales import strength

# CSS pixels at every width of the page, so that type keeps its size
WIDTH, HEIGHT = 340, 196
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 18, 32
TYPE = 11  # size of the type
LETTER = 5.8  # width of a letter in it
RADIUS = 4.0
CORNERS = {  # right and down from the middle of a mark, in radii
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "triangle": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    "turned": ((0, 1.2), (1.1, -0.9), (-1.1, -0.9)),
    "bow": ((-1.1, -1.1), (1.1, 1.1), (1.1, -1.1), (-1.1, 1.1)),
}
SHAPES = tuple(CORNERS)  # in addition to the circle
GAP = 7.0  # from the middle of a mark to its label
MARGIN = 0.07  # of the range of an axis, on either side
FIRST = 4  # panels on the first screen; further ones are behind a click
TICKS = 4
# the cost on the axis of a paper's panel: the first unit that the paper prints next to a score
PRINTED_COSTS = {
    "MACs/character": "MACs per character",
    "FLOPs": "training FLOPs",
    "parameters": "parameters",
}
SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Tick:
    """A tick of an axis. place: in pixels."""

    place: float
    text: str


@dataclass(frozen=True)
class Label:
    """The name of a mark. anchor: as SVG has it, `start`, `middle` or `end`."""

    text: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class Mark:
    """A variant: its place and the ends of its interval, in pixels.

    shape: an SVG path. colour: as CSS. title: all in words. page: of the question behind it,
    relative to the folder of all reports.
    """

    x: float
    y: float
    low: float | None
    high: float | None
    shape: str
    colour: str
    filled: bool
    title: str
    page: str | None
    label: Label | None = None


@dataclass(frozen=True)
class Line:
    """The sizes of one variant, joined: points as SVG has them."""

    points: str
    colour: str


@dataclass(frozen=True)
class Key:
    """A mark of a legend: shape, an SVG path around the origin, and colour of what has no label."""

    text: str
    shape: str
    colour: str


@dataclass(frozen=True)
class Panel:
    """One picture.

    across, up: titles of its axes. unlabelled: the variants whose label finds no space.
    """

    title: str
    note: str
    across: str
    up: str
    about: str
    xticks: tuple[Tick, ...]
    yticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    unlabelled: tuple["Key", ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    right: int = WIDTH - RIGHT
    top: int = TOP


@dataclass(frozen=True)
class Look:
    """How the marks of a variant look in every panel: colour as CSS, and the name of a shape."""

    colour: str
    shape: str = "circle"


@dataclass(frozen=True)
class Picture:
    """All panels: those of the first screen, the others, and those of the papers."""

    main: tuple[Panel, ...]
    others: tuple[Panel, ...]
    papers: tuple[Panel, ...]


@dataclass(frozen=True)
class _Spot:
    """What becomes a mark, in numbers.

    group: marks of one group are joined. labelled: whether it asks for a label.
    """

    name: str
    group: str
    x: float
    y: float
    low: float | None
    high: float | None
    look: Look
    filled: bool
    title: str
    page: str | None
    labelled: bool = True


def make_picture(points: Iterable[Point], own: str) -> Picture:
    """Draw all points.

    own: the set of results that the report is about, whose panels come first among the others.
    """
    points = list(points)
    attentions = {point.attention for point in points}
    looks = _looks(attentions)
    panels: dict[tuple[str, str, str], list[Point]] = {}
    for point in points:
        place = (point.set, point.task, point.corpus)
        panel = panels.setdefault(place, [])
        panel.append(point)
    drawn = [each for each in panels.values() if len(each) > 1]
    ordered = sorted(drawn, key=_order)
    main = _choose_main(ordered)
    others = [each for each in ordered if each not in main]
    others.sort(key=lambda each: each[0].set != own)
    of_papers = []
    for name in studies():
        panel = _paper_panel(name)
        if panel:
            of_papers.append(panel)
    return Picture(
        main=tuple(_draw(each, looks) for each in main),
        others=tuple(_draw(each, looks) for each in others),
        papers=tuple(of_papers),
    )


# --- which panels, and which look ------------------------------------------------------------


def _order(points: list[Point]) -> tuple:
    """Order panels: converged ones first, then the strongest scale, then the most variants."""
    first = points[0]
    gains = [point.late_gain for point in points if point.size == 1]
    late = pd.Series(gains).median()
    still_learning = late
    if converged(late):
        still_learning = 0.0
    weakness = -strength(first.scale)
    return still_learning, weakness, -len(points), first.corpus


def _choose_main(ordered: list[list[Point]]) -> list[list[Point]]:
    """Choose the panels of the first screen, no corpus twice.

    One is of the second task, the others of the first. The tasks with most points come first.
    """
    panels = _without_repeats(ordered)
    counts: Counter[str] = Counter()
    for panel in ordered:
        counts[panel[0].task] += len(panel)
    tasks = [task for task, _ in counts.most_common(2)]
    chosen: list[list[Point]] = []
    # how many panels the first task has, and the second
    for task, number in zip(tasks, (FIRST - 1, 1), strict=False):
        of_task = [panel for panel in panels if panel[0].task == task]
        chosen += of_task[:number]
    rest = [panel for panel in panels if panel not in chosen]
    free = FIRST - len(chosen)
    return chosen + rest[:free]


def _without_repeats(panels: list[list[Point]]) -> list[list[Point]]:
    first: dict[str, list[Point]] = {}
    for panel in panels:
        corpus = panel[0].corpus
        first.setdefault(corpus, panel)
    return list(first.values())


def _looks(attentions: set[Attention]) -> dict[Attention, Look]:
    """Choose the look of every variant, the same in all panels.

    A variant has the colour of its attention in all figures; one without such a colour has that of
    its span or model. Others of the same colour differ in shape.
    """
    looks: dict[Attention, Look] = {}
    taken: Counter[str] = Counter()
    for each in sorted(attentions, key=_order_of_looks):
        kind = _kind(each)
        if kind in COLOURS and each.is_usual:
            looks[each] = Look(on_page(COLOURS[kind]))
            continue
        if kind not in COLOURS:
            kind = _kind(replace(each, selection="all", normaliser="softmax", score_scale="none"))
        colour = COLOURS[kind]
        shape = SHAPES[taken[colour] % len(SHAPES)]
        looks[each] = Look(on_page(colour), shape)
        taken[colour] += 1
    return looks


def _order_of_looks(each: Attention) -> tuple:
    """Order attentions: those with a colour first, then by the length of their names."""
    has_no_colour = _kind(each) not in COLOURS
    return has_no_colour, len(each.name), each.name


def _kind(each: Attention) -> str:
    """Name an attention as `COLOURS` does; a span that has no colour counts as a fixed one."""
    choices = {
        "net": each.model,
        "span": each.span if each.span in COLOURS else "fixed",
        "selection": each.selection,
        "normaliser": each.normaliser,
        "score_scale": each.score_scale,
    }
    return attention_of(choices)


# --- a panel ---------------------------------------------------------------------------------


def path_of(shape: str, x: float, y: float) -> str:
    """Draw a shape around a place, as an SVG path."""
    r = RADIUS
    if shape == "circle":
        # two half circles, to the right end and back
        left_end = f"{x - r:g} {y:g}"
        right_end = f"{x + r:g} {y:g}"
        arc = f"A{r:g} {r:g} 0 0 1"
        return f"M{left_end}{arc} {right_end}{arc} {left_end}"
    corners = []
    for right, down in CORNERS[shape]:
        corner_x = x + r * right
        corner_y = y + r * down
        corners.append(f"{corner_x:g} {corner_y:g}")
    outline = " ".join(corners)
    return f"M{outline}z"


def _draw(points: list[Point], looks: dict[Attention, Look]) -> Panel:
    """Draw the points of one corpus and scale."""
    first = points[0]
    if any(each.S for each in points):
        points = [each for each in points if each.size == 1]  # sizes were measured at another S
    largest: dict[Attention, float] = {}
    for each in points:
        known = largest.get(each.attention, 0.0)
        largest[each.attention] = max(each.size, known)
    spots = []
    for each in points:
        look = looks[each.attention]
        is_largest = each.size == largest[each.attention]
        spots.append(_spot(each, look, labelled=is_largest))
    seeds = [each.n for each in points]
    fewest = min(seeds)
    most = max(seeds)
    n = f"{fewest} to {most}" if fewest < most else f"{fewest}"
    score = REGISTRY[score_of(first.task)]
    where = f"{first.title}, scale {first.scale}"
    words = _Words(
        title=first.title,
        note=f"scale {first.scale}, n = {n}",
        across="MACs per token",
        up=score.title,
        about=f"{where}: {score.title} over executed MACs per token",
    )
    return _lay_out(spots, words, turned=score.better == "lower")


def _spot(point: Point, look: Look, *, labelled: bool) -> _Spot:
    return _Spot(
        name=point.attention.short,
        group=point.attention.name,
        x=point.macs,
        y=point.mean,
        low=point.low,
        high=point.high,
        look=look,
        filled=converged(point.late_gain) and not point.unmoved,
        title=_describe(point),
        page=f"{point.set}/questions/{point.question}/index.html",
        labelled=labelled,
    )


def _describe(point: Point) -> str:
    """Write all that is known of a mark."""
    unit = REGISTRY[score_of(point.task)].unit
    half = half_width(point.low, point.high)
    basis = f"n = {point.n}"
    if half:
        low = to_digits(point.low, half)
        high = to_digits(point.high, half)
        basis = f"95 % CI {low} to {high}, {basis}"
    mean = to_digits(point.mean, half)
    macs = short_number(point.macs)
    parts = [
        f"{point.attention.name}: {mean} {unit} ({basis})",
        f"{macs} MACs per token",
        f"scale {point.scale}",
    ]
    if point.S:
        parts.append(f"S = {point.S:g}")
    if point.k:
        parts.append(f"k = {point.k:g}")
    if point.size != 1:
        parts.append(f"{point.size:g}× the size")
    said = ", ".join(parts)
    if point.unmoved:
        said = f"{said}; learned spans barely moved"
    if not converged(point.late_gain):
        said = f"{said}; not converged"
    return said


@dataclass(frozen=True)
class _Words:
    """The words of a panel: its title, titles of its axes, and what it is about."""

    title: str
    note: str
    across: str
    up: str
    about: str


@dataclass(frozen=True)
class _Placed:
    """A spot with its place in pixels."""

    spot: _Spot
    x: float
    y: float


def _lay_out(spots: list[_Spot], words: _Words, *, turned: bool) -> Panel:
    """Place marks, ticks and labels. turned: whether a lower score is drawn higher."""
    bottom = HEIGHT - BOTTOM
    costs = [spot.x for spot in spots]
    xs = _Axis(costs, LEFT, WIDTH - RIGHT, log=True)
    values = []
    for spot in spots:
        interval = (spot.low, spot.y, spot.high)
        values += [value for value in interval if value is not None]
    ends = (TOP, bottom) if turned else (bottom, TOP)
    ys = _Axis(values, *ends)
    placed = []
    for spot in spots:
        x = xs.place(spot.x)
        y = ys.place(spot.y)
        placed.append(_Placed(spot, x, y))
    labels = _label(placed, bottom)
    marks = []
    for number, each in enumerate(placed):
        marks.append(_mark(each, ys, labels.get(number)))
    named = {label.text for label in labels.values()}
    missing: dict[str, Look] = {}
    for spot in spots:
        if spot.labelled and spot.name not in named:
            missing[spot.name] = spot.look
    keys = []
    for name, look in missing.items():
        shape = path_of(look.shape, 5, 5)
        keys.append(Key(name, shape, look.colour))
    return Panel(
        title=words.title,
        note=words.note,
        across=words.across,
        up=words.up,
        about=words.about,
        xticks=xs.ticks(),
        yticks=ys.ticks(),
        lines=tuple(_lines(placed)),
        marks=tuple(marks),
        unlabelled=tuple(keys),
    )


def _mark(placed: _Placed, ys: "_Axis", label: Label | None) -> Mark:
    spot = placed.spot
    return Mark(
        x=placed.x,
        y=placed.y,
        low=ys.place(spot.low),
        high=ys.place(spot.high),
        shape=path_of(spot.look.shape, placed.x, placed.y),
        colour=spot.look.colour,
        filled=spot.filled,
        title=spot.title,
        page=spot.page,
        label=label,
    )


def _lines(placed: list[_Placed]) -> list[Line]:
    """Join the sizes of each variant, from left to right."""
    groups: dict[str, list[_Placed]] = {}
    for each in placed:
        group = groups.setdefault(each.spot.group, [])
        group.append(each)
    lines = []
    for group in groups.values():
        if len(group) < 2:
            continue
        group.sort(key=lambda each: each.x)
        points = [f"{each.x},{each.y}" for each in group]
        colour = group[0].spot.look.colour
        lines.append(Line(" ".join(points), colour))
    return lines


# --- labels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "_Box") -> bool:
        overlaps_across = self.left < other.right and other.left < self.right
        overlaps_down = self.top < other.bottom and other.top < self.bottom
        return overlaps_across and overlaps_down


def _label(placed: list[_Placed], bottom: float) -> dict[int, Label]:
    """Label marks where there is space, clear of marks and other labels.

    bottom: of the panel, in pixels. The key is the number of the mark.
    """
    taken = []
    for each in placed:
        box = _Box(
            left=each.x - RADIUS,
            top=each.y - RADIUS,
            right=each.x + RADIUS,
            bottom=each.y + RADIUS,
        )
        taken.append(box)
    labels: dict[int, Label] = {}
    for number in _order_of_labels(placed):
        each = placed[number]
        if not each.spot.labelled:
            continue
        for label, left in _candidates(each):
            box = _box_of(label, left)
            is_free = not any(box.overlaps(other) for other in taken)
            if is_free and _is_inside(box, bottom):
                labels[number] = label
                taken.append(box)
                break
    return labels


def _order_of_labels(placed: list[_Placed]) -> list[int]:
    """Order marks for labels: the ends of lines first, then short names."""
    sizes = Counter(each.spot.group for each in placed)

    def order(number: int) -> tuple[bool, int]:
        spot = placed[number].spot
        is_alone = sizes[spot.group] == 1
        return is_alone, len(spot.name)

    numbers = range(len(placed))
    return sorted(numbers, key=order)


def _candidates(placed: _Placed) -> list[tuple[Label, float]]:
    """List where a label may be, the best first, each with its left end in pixels."""
    x = placed.x
    name = placed.spot.name
    middle = placed.y + TYPE / 3
    above = placed.y - GAP
    below = placed.y + GAP + TYPE * 0.7
    # next to the mark, above or below it, and above or below its right or left side
    places = (
        (x + GAP, middle, "start"),
        (x - GAP, middle, "end"),
        (x, above, "middle"),
        (x, below, "middle"),
        (x + 4, above, "start"),
        (x + 4, below, "start"),
        (x - 4, above, "end"),
        (x - 4, below, "end"),
    )
    width = LETTER * len(name)
    before = {"start": 0.0, "middle": width / 2, "end": width}
    candidates = []
    for label_x, label_y, anchor in places:
        label = Label(name, label_x, label_y, anchor)
        left = label_x - before[anchor]
        candidates.append((label, left))
    return candidates


def _box_of(label: Label, left: float) -> _Box:
    width = LETTER * len(label.text)
    return _Box(
        left=left,
        top=label.y - TYPE * 0.8,
        right=left + width,
        bottom=label.y + TYPE * 0.2,
    )


def _is_inside(box: _Box, bottom: float) -> bool:
    """Say whether a label is within its panel."""
    if box.left < LEFT + 2 or box.right > WIDTH:
        return False
    return box.top >= 0 and box.bottom <= bottom - 1


# --- axes ------------------------------------------------------------------------------------


class _Axis:
    """A scale from numbers to pixels. first, last: where its least and its largest number are."""

    def __init__(self, values: list[float], first: float, last: float, *, log: bool = False):
        self.log = log
        self.first = first
        self.last = last
        scaled = [self._scaled(value) for value in values]
        least = min(scaled)
        most = max(scaled)
        margin = (most - least) * MARGIN
        if not margin:
            # one value alone: half a power of ten, or some of its size
            margin = 0.3 if log else abs(most) * MARGIN or 1.0
        self.low = least - margin
        self.high = most + margin

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def place(self, value: float | None) -> float | None:
        if value is None:
            return None
        width = self.high - self.low
        share = (self._scaled(value) - self.low) / width
        length = self.last - self.first
        return round(self.first + share * length, 1)

    def ticks(self) -> tuple[Tick, ...]:
        if self.log:
            values = _log_ticks(10**self.low, 10**self.high)
            return self._ticks_at(values, short_number)
        distance = (self.high - self.low) / TICKS
        step = _step(distance)
        power = math.floor(math.log10(step))
        decimals = max(0, -power)
        first = math.ceil(self.low / step)
        last = math.floor(self.high / step)
        values = [number * step for number in range(first, last + 1)]

        def write(value: float) -> str:
            return f"{value:,.{decimals}f}"

        return self._ticks_at(values, write)

    def _ticks_at(self, values: list[float], write: Callable[[float], str]) -> tuple[Tick, ...]:
        ticks = []
        for value in values:
            place = self.place(value)
            text = write(value)
            ticks.append(Tick(place, text))
        return tuple(ticks)


def _step(about: float) -> float:
    """Round a distance of ticks up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(about))
    for factor in (1, 2, 5):
        step = factor * power
        if step >= about:
            return step
    return 10 * power


def _log_ticks(low: float, high: float) -> list[float]:
    """List 1, 2 and 5 times powers of ten in a range; fewer where these are too many."""
    least = math.floor(math.log10(low))
    most = math.ceil(math.log10(high))
    powers = range(least, most + 1)
    inside: list[float] = []
    choices = ((1, 2, 3, 5), (1, 2, 5), (1, 3), (1,))
    for factors in choices:
        values = []
        for power in powers:
            values += [factor * 10.0**power for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) <= TICKS + 1:
            break
    return inside


def short_number(value: float) -> str:
    """Write a large number with a suffix.

    >>> short_number(297000.0), short_number(1.5e6)
    ('297k', '1.5M')
    """
    if value >= 1e15:
        return f"{value:.2g}".replace("e+", "e")
    for size, suffix in SUFFIXES:
        if value >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"


# --- what papers print -----------------------------------------------------------------------

Pair = tuple[Published, Published]  # a score and a cost of the same row


def _paper_panel(name: str) -> Panel | None:
    """Draw the pairs of score and cost that one paper prints; None where it prints none."""
    study = studies()[name]
    rows: dict[tuple[str, str], list[Published]] = {}
    for value in study.values:
        if value.is_number and value.origin == "paper":
            rows.setdefault((value.where, value.row), []).append(value)
    for unit, across in PRINTED_COSTS.items():
        pairs: list[Pair] = []
        for row in rows.values():
            pairs += _pairs(row, unit)
        if pairs:
            return _draw_paper(study, pairs, across)
    return None


def _draw_paper(study: Study, pairs: list[Pair], across: str) -> Panel:
    """Draw the pairs with the score of the first. across: what their cost is."""
    unit = pairs[0][0].unit
    spots = [_printed(score, cost, across) for score, cost in pairs if score.unit == unit]
    about = f"{unit} over {across}, {study.heading}"
    words = _Words(
        title=study.title,
        note="the paper's own models; not the same data",
        across=across,
        up=unit,
        about=f"Published results, not the same data: {about}",
    )
    return _lay_out(spots, words, turned=unit in ("bpc", "bpb"))


def _pairs(row: list[Published], unit: str) -> list[Pair]:
    """Pair each score of a row with its cost in this unit; test scores alone where there are."""
    costs = [value for value in row if value.unit == unit]
    if not costs:
        return []
    cost = costs[0]
    scores = []
    on_test = []
    for value in row:
        if not _is_score(value):
            continue
        scores.append(value)
        if "dev" not in value.column.lower():
            on_test.append(value)
    return [(score, cost) for score in on_test or scores]


def _is_score(value: Published) -> bool:
    return value.kind in ("trained", "cited") and value.unit in ("bpc", "BLEU")


def _printed(score: Published, cost: Published, across: str) -> _Spot:
    # a corpus in brackets, `Table 1 (text8 test)`, or else the column
    corpus = score.where.partition("(")[2].rstrip(")").removesuffix(" test")
    place = corpus or score.column.removeprefix(f"{score.unit} ")
    model = score.row.removeprefix("Transformer ").strip("()")
    where = f"{score.row}, {score.where}, {score.column}"
    return _Spot(
        name=f"{model}, {place}",
        group=f"{score.where} {score.row} {score.column}",
        x=cost.number,
        y=score.number,
        low=None,
        high=None,
        look=Look("var(--soft)"),
        filled=True,
        title=f"{where}: {score.text} {score.unit}, {cost.text} {across}",
        page=None,
    )
