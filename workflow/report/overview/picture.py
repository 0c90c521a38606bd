"""Quality against cost: a small panel for every corpus and scale, drawn as shapes that a template
writes as SVG.

Up and to the left is better in every panel: the axis of a score is turned where lower is better.
What papers print has panels of its own, for their models and corpora are others.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from workflow.claims.published import Published, studies
from workflow.plan.scales import strength
from workflow.report.figures.colours import COLOURS, attention_of, on_page
from workflow.report.overview.attention import Attention
from workflow.report.overview.collect import Point, score_of
from workflow.results.numbers import to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import half_width
from workflow.results.trained_enough import converged

WIDTH, HEIGHT = 340, 196  # CSS pixels at every width of the page, so that type keeps its size
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 18, 32
TYPE, LETTER = 11, 5.8  # size of the type, and the width of a letter in it
RADIUS = 4.0
CORNERS = {  # right and down from the middle of a mark, in radii
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "triangle": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    "turned": ((0, 1.2), (1.1, -0.9), (-1.1, -0.9)),
    "bow": ((-1.1, -1.1), (1.1, 1.1), (1.1, -1.1), (-1.1, 1.1)),
}
SHAPES = tuple(CORNERS)  # beside the circle
GAP = 7.0  # from the middle of a mark to its label
MARGIN = 0.07  # of the range of an axis, on either side
FIRST = 4  # panels on the first screen; further ones are behind a click
TICKS = 4
# the cost on the axis of a paper's panel: the first unit that the paper prints beside a score
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
    """A variant: its place in pixels, its interval, its shape as an SVG path, its colour as CSS,
    whether it is filled.

    title: all in words.

    page: of the question behind it, relative to the folder of all reports.
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
    """One picture. across, up: titles of its axes. unlabelled: the variants for which there is no
    room.
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
    """What becomes a mark, in numbers. group: marks of one group are joined. labelled: whether it
    asks for a label.
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
    """Draw all points. own: the set of results that the report is about, whose other panels come
    first.
    """
    points = list(points)
    looks = _looks({point.attention for point in points})
    panels: dict[tuple[str, str, str], list[Point]] = {}
    for point in points:
        panels.setdefault((point.set, point.task, point.corpus), []).append(point)
    ordered = sorted((each for each in panels.values() if len(each) > 1), key=_order)
    main = _choose_main(ordered)
    others = sorted(
        (each for each in ordered if each not in main), key=lambda each: each[0].set != own
    )
    drawn = [tuple(_draw(each, looks) for each in group) for group in (main, others)]
    return Picture(*drawn, papers=tuple(filter(None, map(_paper_panel, studies()))))


def _order(points: list[Point]) -> tuple:
    """Order panels: converged ones first, then the strongest scale, then those with the most
    variants.
    """
    late = pd.Series([point.late_gain for point in points if point.size == 1]).median()
    return (
        0.0 if converged(late) else late,
        -strength(points[0].scale),
        -len(points),
        points[0].corpus,
    )


def _choose_main(ordered: list[list[Point]]) -> list[list[Point]]:
    """Choose the panels of the first screen, no corpus twice: one of the second task, the others of
    the first.

    The tasks with most points come first.
    """
    panels = _without_repeats(ordered)
    points = Counter(point.task for each in ordered for point in each)
    of_tasks = [
        [each for each in panels if each[0].task == task] for task, _ in points.most_common(2)
    ]
    first, second = [*of_tasks, [], []][:2]
    chosen = [*first[: FIRST - 1], *second[:1]]
    rest = [each for each in panels if each not in chosen]
    return [*chosen, *rest[: FIRST - len(chosen)]]


def _without_repeats(panels: list[list[Point]]) -> list[list[Point]]:
    first: dict[str, list[Point]] = {}
    for each in panels:
        first.setdefault(each[0].corpus, each)
    return list(first.values())


def _looks(attentions: set[Attention]) -> dict[Attention, Look]:
    """Choose the look of every variant, the same in all panels.

    A variant has the colour of its attention in all figures; one without such a colour has that of
    its span or model. Others of the same colour differ in shape.
    """
    looks: dict[Attention, Look] = {}
    taken: Counter[str] = Counter()
    for each in sorted(
        attentions, key=lambda each: (_kind(each) not in COLOURS, len(each.name), each.name)
    ):
        kind = _kind(each)
        colour = COLOURS[
            kind if kind in COLOURS else _kind(replace(each, selection="all", normaliser="softmax"))
        ]
        if kind in COLOURS and each.is_usual:
            looks[each] = Look(on_page(colour))
            continue
        looks[each] = Look(on_page(colour), SHAPES[taken[colour] % len(SHAPES)])
        taken[colour] += 1
    return looks


def _kind(each: Attention) -> str:
    """Name an attention as `COLOURS` does; a span that has no colour counts as a fixed one."""
    span = each.span if each.span in COLOURS else "fixed"
    choices = {"selection": each.selection, "normaliser": each.normaliser}
    return attention_of({"net": each.model, "span": span, **choices})


def path_of(shape: str, x: float, y: float) -> str:
    """Draw a shape around a place, as an SVG path."""
    r = RADIUS
    if shape == "circle":
        ends = (x + r, x - r)
        return f"M{x - r:g} {y:g}" + "".join(f"A{r:g} {r:g} 0 0 1 {end:g} {y:g}" for end in ends)
    corners = " ".join(f"{x + r * right:g} {y + r * down:g}" for right, down in CORNERS[shape])
    return f"M{corners}z"


def _draw(points: list[Point], looks: dict[Attention, Look]) -> Panel:
    """Draw the points of one corpus and scale."""
    first = points[0]
    quantity = REGISTRY[score_of(first.task)]
    if any(each.S for each in points):
        points = [each for each in points if each.size == 1]  # sizes were measured at another S
    largest = {
        each.attention: max(p.size for p in points if p.attention == each.attention)
        for each in points
    }
    spots = [
        _Spot(
            name=each.attention.short,
            group=each.attention.name,
            x=each.macs,
            y=each.mean,
            low=each.low,
            high=each.high,
            look=looks[each.attention],
            filled=converged(each.late_gain) and not each.unmoved,
            title=_describe(each),
            page=f"{each.set}/questions/{each.question}/index.html",
            labelled=each.size == largest[each.attention],
        )
        for each in points
    ]
    seeds = sorted({each.n for each in points})
    n = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    note = f"scale {first.scale}, n = {n}"
    about = f"{first.title}, scale {first.scale}: {quantity.title} over executed MACs per token"
    up = quantity.title
    return _lay_out(
        spots, first.title, note, "MACs per token", up, about, turned=quantity.better == "lower"
    )


def _describe(each: Point) -> str:
    quantity = REGISTRY[score_of(each.task)]
    half = half_width(each.low, each.high)
    parts = [f"{each.attention.name}: {to_digits(each.mean, half)} {quantity.unit}"]
    if half:
        parts.append(
            f" (95 % CI {to_digits(each.low, half)} to {to_digits(each.high, half)}, n = {each.n})"
        )
    else:
        parts.append(f" (n = {each.n})")
    parts.append(f", {short_number(each.macs)} MACs per token, scale {each.scale}")
    parts += [f", {axis} = {value:g}" for axis, value in (("S", each.S), ("k", each.k)) if value]
    parts += [f", {each.size:g}× the size"] if each.size != 1 else []
    parts += ["; learned spans barely moved"] if each.unmoved else []
    parts += [] if converged(each.late_gain) else ["; not converged"]
    return "".join(parts)


def _lay_out(
    spots: list[_Spot], title: str, note: str, across: str, up: str, about: str, *, turned: bool
) -> Panel:
    """Place marks, ticks and labels. turned: whether a lower score is drawn higher."""
    xs = _Axis([spot.x for spot in spots], LEFT, WIDTH - RIGHT, log=True)
    ends = [end for spot in spots for end in (spot.low, spot.y, spot.high) if end is not None]
    bottom, top = HEIGHT - BOTTOM, TOP
    ys = _Axis(ends, *((top, bottom) if turned else (bottom, top)))
    placed = [(spot, xs.place(spot.x), ys.place(spot.y)) for spot in spots]
    labels = _label([(spot, x, y) for spot, x, y in placed], bottom)
    marks = tuple(
        Mark(
            x,
            y,
            ys.place(spot.low),
            ys.place(spot.high),
            path_of(spot.look.shape, x, y),
            spot.look.colour,
            spot.filled,
            spot.title,
            spot.page,
            labels.get(n),
        )
        for n, (spot, x, y) in enumerate(placed)
    )
    named = {label.text for label in labels.values()}
    missing = {spot.name: spot.look for spot in spots if spot.labelled and spot.name not in named}
    return Panel(
        title=title,
        note=note,
        across=across,
        up=up,
        about=about,
        xticks=xs.ticks(),
        yticks=ys.ticks(),
        lines=tuple(_lines(placed)),
        marks=marks,
        unlabelled=tuple(
            Key(name, path_of(look.shape, 5, 5), look.colour) for name, look in missing.items()
        ),
    )


def _lines(placed: list[tuple[_Spot, float, float]]) -> list[Line]:
    groups: dict[str, list[tuple[_Spot, float, float]]] = {}
    for each in placed:
        groups.setdefault(each[0].group, []).append(each)
    joined = [
        sorted(group, key=lambda each: each[1]) for group in groups.values() if len(group) > 1
    ]
    return [
        Line(" ".join(f"{x},{y}" for _, x, y in group), group[0][0].look.colour) for group in joined
    ]


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _label(placed: list[tuple[_Spot, float, float]], bottom: float) -> dict[int, Label]:
    """Label marks where there is room, short names first: beside, above or below, clear of marks
    and other labels.
    """
    taken: list[Box] = []
    for _, x, y in placed:
        taken.append((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS))
    labels: dict[int, Label] = {}
    grouped = Counter(spot.group for spot, *_ in placed)
    # the end of a line first, then short names
    order = sorted(
        range(len(placed)), key=lambda n: (grouped[placed[n][0].group] == 1, len(placed[n][0].name))
    )
    for n in order:
        spot, x, y = placed[n]
        if not spot.labelled:
            continue
        width = LETTER * len(spot.name)
        middle = y + TYPE / 3
        for label, left in (
            (Label(spot.name, x + GAP, middle, "start"), x + GAP),
            (Label(spot.name, x - GAP, middle, "end"), x - GAP - width),
            (Label(spot.name, x, y - GAP, "middle"), x - width / 2),
            (Label(spot.name, x, y + GAP + TYPE * 0.7, "middle"), x - width / 2),
            (Label(spot.name, x + 4, y - GAP, "start"), x + 4),
            (Label(spot.name, x + 4, y + GAP + TYPE * 0.7, "start"), x + 4),
            (Label(spot.name, x - 4, y - GAP, "end"), x - 4 - width),
            (Label(spot.name, x - 4, y + GAP + TYPE * 0.7, "end"), x - 4 - width),
        ):
            box = (left, label.y - TYPE * 0.8, left + width, label.y + TYPE * 0.2)
            inside = box[0] >= LEFT + 2 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= bottom - 1
            if inside and not any(_overlap(box, other) for other in taken):
                labels[n] = label
                taken.append(box)
                break
    return labels


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class _Axis:
    """A scale from numbers to pixels. first, last: where its least and its largest number are."""

    def __init__(self, values: list[float], first: float, last: float, *, log: bool = False):
        self.log, self.first, self.last = log, first, last
        known = [self._scaled(value) for value in values]
        low, high = min(known), max(known)
        margin = (high - low) * MARGIN or (0.3 if log else abs(high) * MARGIN or 1.0)
        self.low, self.high = low - margin, high + margin

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def place(self, value: float | None) -> float | None:
        if value is None:
            return None
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)

    def ticks(self) -> tuple[Tick, ...]:
        if self.log:
            values = _log_ticks(10**self.low, 10**self.high)
            return tuple(Tick(self.place(value), short_number(value)) for value in values)
        step = _step((self.high - self.low) / TICKS)
        decimals = max(0, -math.floor(math.log10(step)))
        first = math.ceil(self.low / step)
        values = [n * step for n in range(first, math.floor(self.high / step) + 1)]
        return tuple(Tick(self.place(value), f"{value:,.{decimals}f}") for value in values)


def _step(about: float) -> float:
    """Round a distance of ticks up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= about)


def _log_ticks(low: float, high: float) -> list[float]:
    """List 1, 2 and 5 times powers of ten in a range; powers of ten alone where these are too
    many.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**power for power in powers for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) <= TICKS + 1:
            return inside
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


# what papers print


def _paper_panel(name: str) -> Panel | None:
    """Draw the points that one paper prints: a score and a cost of the same row; None where it
    prints no pair.
    """
    study = studies()[name]
    rows: dict[tuple[str, str], list[Published]] = {}
    for value in study.values:
        if isinstance(value.value, float):
            rows.setdefault((value.where, value.row), []).append(value)
    by_unit = {
        unit: [pair for row in rows.values() for pair in _pairs(row, unit)]
        for unit in PRINTED_COSTS
    }
    unit = next((unit for unit, pairs in by_unit.items() if pairs), None)
    if unit is None:
        return None
    pairs, across = by_unit[unit], PRINTED_COSTS[unit]
    score = pairs[0][0].unit
    pairs = [pair for pair in pairs if pair[0].unit == score]
    spots = [_printed(result, cost, across) for result, cost in pairs]
    about = f"Published results, not the same data: {score} over {across}, {study.heading}"
    turned = score in ("bpc", "bpb")
    return _lay_out(
        spots,
        study.title,
        "the paper's own models; not the same data",
        across,
        f"{score}",
        about,
        turned=turned,
    )


def _pairs(row: list[Published], unit: str) -> list[tuple[Published, Published]]:
    """Pair each score of a row with its cost in this unit; of dev and test scores only those on
    test.
    """
    costs = [value for value in row if value.unit == unit]
    scores = [
        value
        for value in row
        if value.kind in ("trained", "cited") and value.unit in ("bpc", "BLEU")
    ]
    tested = [value for value in scores if "dev" not in value.column.lower()]
    return [(score, costs[0]) for score in tested or scores] if costs else []


def _printed(score: Published, cost: Published, across: str) -> _Spot:
    place = score.where.partition("(")[2].rstrip(")").removesuffix(
        " test"
    ) or score.column.removeprefix(f"{score.unit} ")
    title = f"{score.row}, {score.where}, {score.column}: {score.text} {score.unit}, {cost.text} {across}"
    return _Spot(
        name=f"{score.row.removeprefix('Transformer ').strip('()')}, {place}",
        group=f"{score.where} {score.row} {score.column}",
        x=float(cost.value),
        y=float(score.value),
        low=None,
        high=None,
        look=Look("var(--soft)"),
        filled=True,
        title=title,
        page=None,
    )
