"""What is wrong with a figure, by matplotlib's own layout: its texts, how much of it is axes, what lies on what."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, NullLocator
from matplotlib.transforms import Bbox

from workflow.report.figures.colours import DARK_PAPER, LIGHT_PAPER, MAP, contrast, follow_page
from workflow.report.figures.style import lay_out
from workflow.report.pages.site import TEMPLATES

COLOUR = re.compile(r"(fill|stroke|color|stop-color)(?:: |=\")([^;\"]+)")
LINES, LETTERS = 3.0, 4.5  # least contrast with the paper (WCAG 1.4.11 and 1.4.3)
MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge
DRAWN = 4.0  # pixels between two places of a line that are looked at
FEW = 3  # points, or seeds that are drawn one by one
LEAST = 0.5  # of a figure, without its legend and its foot, that its axes cover


def faults(figure) -> list[str]:
    """Lines on what is wrong, each with the words of the figure that it is about; none of a good one."""
    lay_out(figure)
    figure.canvas.draw()
    texts = [text for text in _texts(figure) if text.get_text().strip()]
    found = [f"raw mathematics: {text.get_text()}" for text in texts if MATHS.search(text.get_text())]
    found += _cut_or_over_another(figure, texts)
    found += _small(figure) + _empty(figure)
    for axes in _visible(figure):
        found += _covered(figure, axes) + _hidden(axes) + _few_ticks(axes)
        found += _misplaced(axes)
    return found


def words(figure) -> list[str]:
    """Every text that is seen."""
    return [text.get_text() for text in _texts(figure) if text.get_text().strip()]


def _visible(figure) -> list:
    return [axes for axes in figure.axes if axes.get_visible()]


def _texts(figure) -> Iterator[Text]:
    """Without the labels of ticks that are out of view, which matplotlib keeps."""
    yield from (text for text in figure.texts if text.get_visible())
    for legend in _legends(figure):
        yield from (legend.get_title(), *legend.get_texts())
    for axes in _visible(figure):
        yield from (axes.title, *axes.texts)
        if not axes.axison:
            continue
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            least, most = low - 1e-6 * abs(low), high + 1e-6 * abs(high)  # of a logarithmic axis too
            ticks = [t for t in axis.get_major_ticks() if least <= t.get_loc() <= most]
            ticks += [t for t in axis.get_minor_ticks() if low <= t.get_loc() <= high]
            labels = (label for tick in ticks for label in (tick.label1, tick.label2))
            yield from (text for text in (axis.label, axis.offsetText, *labels) if text.get_visible())


def _legends(figure) -> list[Legend]:
    return [*figure.legends, *(legend for axes in _visible(figure) if (legend := axes.get_legend()))]


def _box(artist) -> Bbox:
    return artist.get_window_extent()


def _overlap(a: Bbox, b: Bbox) -> bool:
    width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > TOUCH and height > TOUCH


def _cut_or_over_another(figure, texts: list[Text]) -> list[str]:
    boxes, whole = [(text.get_text(), _box(text)) for text in texts], figure.bbox
    cut = [
        f"cut by the edge: {text}"
        for text, box in boxes
        if box.x0 < -TOUCH or box.y0 < -TOUCH or box.x1 > whole.x1 + TOUCH or box.y1 > whole.y1 + TOUCH
    ]
    over = [(a, b) for (a, at), (b, there) in combinations(boxes, 2) if _overlap(at, there)]
    return cut + [f"one over the other: {a} | {b}" for a, b in over]


def _small(figure) -> list[str]:
    """Of what legends, titles, names of axes and the foot leave free; a figure of words alone has no axes to see."""
    shown = [axes for axes in _visible(figure) if axes.axison or axes.has_data()]
    if not shown:
        return []
    free = _area(figure.bbox, [*figure.legends, *figure.texts])
    free -= sum(_taken(axes.bbox, [axes.title, axes.xaxis.label, axes.yaxis.label]) for axes in shown)
    share = sum(axes.bbox.width * axes.bbox.height for axes in shown) / free
    return [f"axes cover {share:.0%} of it"] if share < LEAST else []


def _empty(figure) -> list[str]:
    """Figures of a point or two in each of their axes, which a table says as well; lines of one name in a heap."""
    shown = [axes for axes in _visible(figure) if axes.axison or axes.has_data()]
    points = [
        sum(len(line.get_xdata()) for line in axes.lines)
        + sum(len(each.get_offsets()) for each in axes.collections if isinstance(each, PathCollection))
        + sum(np.size(each.get_array()) for each in (*axes.images, *axes.collections) if each.get_array() is not None)
        for axes in shown
    ]
    named = [Counter(line.get_label() for line in axes.lines if len(line.get_xdata()) > FEW) for axes in shown]
    heaps = [name for names in named for name, number in names.items() if number >= FEW and not name.startswith("_")]
    few = ["nothing to see: too few points"] if points and max(points) < FEW else []
    return few + [f"nothing to see: lines in a heap, {name}" for name in heaps]


def _area(whole: Bbox, around: list) -> float:
    return whole.width * whole.height - _taken(whole, around)


def _taken(beside: Bbox, artists: list) -> float:
    """Pixels of the strips that wide artists take above or below a box, and tall ones at its side."""
    boxes = [_box(artist) for artist in artists]
    return sum(
        box.height * beside.width if box.width > box.height else box.width * beside.height
        for box in boxes
        if box.width and box.height
    )


def _covered(figure, axes) -> list[str]:
    """Lines and points that lie under a legend, and axes under one of the whole figure."""
    found = [f"a legend over the axes {axes.get_title()}" for each in figure.legends if _overlap(_box(each), axes.bbox)]
    if legend := axes.get_legend():
        box = _box(legend)
        places = [(line.get_label(), _places(line)) for line in axes.lines]
        places += [("points", _offsets(each)) for each in axes.collections if isinstance(each, PathCollection)]
        found += [f"under the legend: {name}" for name, at in places if len(at) and box.count_contains(at)]
    return found


def _misplaced(axes) -> list[str]:
    """Names of points that stand nearer to another point than to their own, or so close that they read as one."""
    names = [text for text in axes.texts if isinstance(text, Annotation) and text.get_visible()]
    marks = np.concatenate([*(axes.transData.transform(line.get_xydata()) for line in axes.lines), np.empty((0, 2))])
    found = []
    for name in names:
        box, own = _box(name), axes.transData.transform(name.xy)
        others = marks[np.hypot(*(marks - own).T) > TOUCH]
        middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
        if len(marks) > len(others) and np.hypot(*(others - middle).T).min(initial=np.inf) < np.hypot(*(own - middle)):
            found.append(f"nearer to another point: {name.get_text()}")
    close = [(a, b) for a, b in combinations(names, 2) if _overlap(_box(a).padded(2 * TOUCH), _box(b).padded(TOUCH))]
    return found + [f"reads as one: {a.get_text()}{b.get_text()}" for a, b in close]


def _few_ticks(axes) -> list[str]:
    """Of an axis upwards whose ticks follow the numbers: a value is read between two of them, and a third tells how."""
    low, high = sorted(axes.get_ylim())
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    free = axes.axison and not isinstance(axes.yaxis.get_major_locator(), FixedLocator | NullLocator)
    return [f"{len(ticks)} ticks upwards: {axes.get_ylabel()}"] if free and axes.has_data() and len(ticks) < FEW else []


def _offsets(collection) -> np.ndarray:
    return collection.get_offset_transform().transform(np.asarray(collection.get_offsets()))


def _places(line) -> np.ndarray:
    """Pixels on a line, close to each other, as far as it is inside its axes; of loose marks their own alone."""
    path = line.get_transform().transform(np.asarray(line.get_xydata(), float))
    path = path[np.isfinite(path).all(1)]
    if len(path) > 1 and line.get_linestyle() not in ("None", "none", "", " "):
        steps = np.hypot(*np.diff(path, axis=0).T) // DRAWN + 1
        parts = [np.linspace(a, b, int(n), endpoint=False) for a, b, n in zip(path, path[1:], steps, strict=False)]
        path = np.concatenate([*parts, path[-1:]])
    inside = line.axes.bbox
    keep = (path >= [inside.x0 - 1, inside.y0 - 1]).all(1) & (path <= [inside.x1 + 1, inside.y1 + 1]).all(1)
    return path[keep]


def _hidden(axes) -> list[str]:
    """Series that lie under another over their whole length: an opaque, solid line as wide hides what is beneath it."""
    names = {each.lines[0]: each.get_label() for each in axes.containers if isinstance(each, ErrorbarContainer)}
    names = {line: names.get(line, line.get_label()) for line in axes.lines if line.get_visible()}
    at = {line: _places(line) for line, name in names.items() if not name.startswith("_")}
    return [
        f"hidden: {names[under]} behind {names[over]}"
        for under, over in combinations(at, 2)
        if names[under] != names[over] and _hides(over, under) and _within(at[under], at[over], over)
    ]


def _hides(over, under) -> bool:
    return (
        over.get_alpha() in (None, 1)
        and over.get_linestyle() in ("-", under.get_linestyle())
        and over.get_linewidth() >= under.get_linewidth()
        and (over.get_zorder() >= under.get_zorder())
    )


def _within(under: np.ndarray, over: np.ndarray, line) -> bool:
    """Whether every place of one is within the other's width."""
    if not len(under) or not len(over):
        return False
    width = line.get_linewidth() * line.figure.dpi / 72
    distances = np.hypot(*(under[:, None] - over[None]).transpose(2, 0, 1)).min(1)
    return bool((distances <= max(width, DRAWN / 2)).all())


def pale(svg: str) -> list[str]:
    """Colours of a figure on a page that cannot be read on light, or on dark: pictures and maps keep their own."""
    page = re.sub(r"<image .*?/>", "", MAP.sub("", follow_page(svg)), flags=re.DOTALL)
    body = re.sub(r"<defs>.*?</defs>|<clipPath.*?</clipPath>", "", page, flags=re.DOTALL)
    found = []
    for element in re.findall(r"<(\w+)([^>]*)>", body):
        last = {kind: colour for kind, colour in COLOUR.findall(element[1])}
        found += [colour for colour in last.values() if not _seen(colour, LETTERS if element[0] == "text" else LINES)]
    return sorted({f"cannot be seen on light or on dark: {colour}" for colour in found})


def _seen(colour: str, least: float) -> bool:
    """What has no form that follows the page, as a name of a colour, is not seen on one of the two."""
    if colour == "none":
        return True
    if not re.match(r"#\w{6}|light-dark|var", colour):
        return False
    pair = re.fullmatch(r"light-dark\((.*), (.*)\)", colour)
    if named := re.fullmatch(r"var\(--(\w+)\)", colour):
        pair, least = (None, *_of_page(named.group(1))), LINES if named.group(1) != "line" else 1
    on_light, on_dark = (pair[1], pair[2]) if pair else (colour, colour)
    return contrast(on_light, LIGHT_PAPER) >= least and contrast(on_dark, DARK_PAPER) >= least


def _of_page(name: str) -> list[str]:
    """A colour of the pages on light and on dark."""
    return re.findall(rf"--{name}: (#\w{{6}})", (TEMPLATES / "style.css").read_text())
