"""What is wrong with a figure, by matplotlib's own layout: its texts, how much of it is axes, what
lies on what.
"""

import re
from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator, NullLocator
from matplotlib.transforms import Bbox

from workflow.report.figures.colours import (
    DARK_PAPER,
    LIGHT_PAPER,
    MAP,
    PAGE,
    contrast,
    follow_page,
)
from workflow.report.figures.style import END, lay_out

COLOUR = re.compile(r"(fill|stroke|color|stop-color)(?:: |=\")([^;\"]+)")
LINES, LETTERS = 3.0, 4.5  # least contrast with the paper (WCAG 1.4.11 and 1.4.3)
MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge
DRAWN = 4.0  # pixels between two places of a line that are looked at
FEW = 3  # points, or seeds that are drawn one by one
# of a figure, without its legend and its foot, that its axes cover: panels are as wide as a phone
LEAST = 0.25


def faults(figure) -> list[str]:
    """Lines on what is wrong, each with the words of the figure that it is about; none of a good
    one.
    """
    lay_out(figure)
    figure.draw_without_rendering()
    texts = _texts(figure)
    found = [
        f"raw mathematics: {text.get_text()}" for text in texts if MATHS.search(text.get_text())
    ]
    found += _cut_or_over_another(figure, texts) + _small(figure) + _empty(figure)
    for axes in _visible(figure):
        found += _covered(figure, axes) + _hidden(axes) + _few_ticks(axes) + _misplaced(axes)
    return found


def words(figure) -> list[str]:
    return [text.get_text() for text in _texts(figure)]


def _visible(figure) -> list:
    return [axes for axes in figure.axes if axes.get_visible()]


def _shown(figure) -> list:
    """Without axes that hold words alone."""
    return [axes for axes in _visible(figure) if axes.axison or axes.has_data()]


def _texts(figure) -> list[Text]:
    """All that are seen; not the labels of ticks that are out of view, which matplotlib keeps."""
    found, legends = (
        [*figure.texts],
        [*figure.legends, *(axes.get_legend() for axes in _visible(figure))],
    )
    for legend in filter(None, legends):
        found += [legend.get_title(), *legend.get_texts()]
    for axes in _visible(figure):
        found += [axes.title, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            low, high = sorted(axis.get_view_interval())
            # of a logarithmic axis too
            least, most = low - 1e-6 * abs(low), high + 1e-6 * abs(high)
            ticks = [
                t
                for t in (*axis.get_major_ticks(), *axis.get_minor_ticks())
                if least <= t.get_loc() <= most
            ]
            found += [
                axis.label,
                axis.offsetText,
                *(label for t in ticks for label in (t.label1, t.label2)),
            ]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def _box(artist) -> Bbox:
    return artist.get_window_extent()


def _overlap(a: Bbox, b: Bbox) -> bool:
    width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > TOUCH and height > TOUCH


def _cut_or_over_another(figure, texts: list[Text]) -> list[str]:
    boxes, whole = [(text.get_text(), _box(text)) for text in texts], figure.bbox.padded(TOUCH)
    cut = [
        f"cut by the edge: {text}"
        for text, box in boxes
        if not np.all([*map(whole.contains, *box.corners().T)])
    ]
    over = [(a, b) for (a, at), (b, there) in combinations(boxes, 2) if _overlap(at, there)]
    return cut + [f"one over the other: {a} | {b}" for a, b in over]


def _small(figure) -> list[str]:
    """Axes are small of what legends, titles, names of axes and the foot leave free."""
    shown = _shown(figure)
    taken = _taken(figure.bbox, [*figure.legends, *figure.texts])
    taken += sum(
        _taken(axes.bbox, [axes.title, axes.xaxis.label, axes.yaxis.label]) for axes in shown
    )
    covered = sum(axes.bbox.width * axes.bbox.height for axes in shown)
    share = covered / (figure.bbox.width * figure.bbox.height - taken)
    return [f"axes cover {share:.0%} of it"] if shown and share < LEAST else []


def _empty(figure) -> list[str]:
    """Figures of a point or two in each of their axes, which a table says as well; lines of one
    name in a heap.
    """
    points, heaps = [], []
    for axes in _shown(figure):
        marks = [
            np.size(each.get_offsets()) // 2
            for each in axes.collections
            if isinstance(each, PathCollection)
        ]
        maps = [
            np.size(each.get_array())
            for each in (*axes.images, *axes.collections)
            if each.get_array() is not None
        ]
        points.append(sum([len(line.get_xdata()) for line in axes.lines] + marks + maps))
        names = Counter(line.get_label() for line in axes.lines if len(line.get_xdata()) > FEW)
        heaps += [
            name for name, number in names.items() if number >= FEW and not name.startswith("_")
        ]
    few = ["nothing to see: too few points"] if points and max(points) < FEW else []
    return few + [f"nothing to see: lines in a heap, {name}" for name in heaps]


def _taken(beside: Bbox, artists: list) -> float:
    """Pixels of the strips that wide artists take above or below a box, and tall ones at its
    side.
    """
    boxes = [box for box in map(_box, artists) if box.width and box.height]
    strips = [
        (box.height, beside.width) if box.width > box.height else (box.width, beside.height)
        for box in boxes
    ]
    return sum(map(prod, strips))


def _covered(figure, axes) -> list[str]:
    """Lines and points that lie under a legend, and axes under one of the whole figure."""
    found = [
        f"a legend over the axes {axes.get_title()}"
        for each in figure.legends
        if _overlap(_box(each), axes.bbox)
    ]
    if legend := axes.get_legend():
        places = [(line.get_label(), _places(line)) for line in axes.lines]
        for each in (each for each in axes.collections if isinstance(each, PathCollection)):
            places.append(
                ("points", each.get_offset_transform().transform(np.asarray(each.get_offsets())))
            )
        found += [
            f"under the legend: {name}"
            for name, at in places
            if len(at) and _box(legend).count_contains(at)
        ]
    return found


def _misplaced(axes) -> list[str]:
    """Names of points that stand nearer to another point than to their own, or so close that they
    read as one.
    """
    names = [
        text
        for text in axes.texts
        if isinstance(text, Annotation) and text.get_visible() and text.get_gid() != END
    ]
    marks = np.concatenate(
        [*(axes.transData.transform(line.get_xydata()) for line in axes.lines), np.empty((0, 2))]
    )
    found = []
    for name in names:
        own, middle = axes.transData.transform(name.xy), _box(name).corners().mean(0)
        others = marks[np.hypot(*(marks - own).T) > TOUCH]
        if len(marks) > len(others) and np.hypot(*(others - middle).T).min(
            initial=np.inf
        ) < np.hypot(*(own - middle)):
            found.append(f"nearer to another point: {name.get_text()}")
    close = [
        (a, b)
        for a, b in combinations(names, 2)
        if _overlap(_box(a).padded(2 * TOUCH, 0), _box(b).padded(TOUCH, 0))
    ]
    return found + [f"reads as one: {a.get_text()}{b.get_text()}" for a, b in close]


def _few_ticks(axes) -> list[str]:
    """Find vertical axes with too few ticks: a value is read between two of them, and a third tells
    how.
    """
    low, high = sorted(axes.get_ylim())
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    free = axes.axison and not isinstance(
        axes.yaxis.get_major_locator(), FixedLocator | NullLocator
    )
    return (
        [f"{len(ticks)} ticks upwards: {axes.get_ylabel()}"]
        if free and axes.has_data() and len(ticks) < FEW
        else []
    )


def _places(line) -> np.ndarray:
    """Pixels on a line, close to each other, as far as it is inside its axes; of loose marks their
    own alone.
    """
    path = line.get_transform().transform(np.asarray(line.get_xydata(), float))
    path = path[np.isfinite(path).all(1)]
    if len(path) > 1 and line.get_linestyle() not in ("None", "none", "", " "):
        steps = np.hypot(*np.diff(path, axis=0).T) // DRAWN + 1
        parts = [
            np.linspace(a, b, int(n), endpoint=False)
            for a, b, n in zip(path, path[1:], steps, strict=False)
        ]
        path = np.concatenate([*parts, path[-1:]])
    inside = line.axes.bbox
    keep = (path >= [inside.x0 - 1, inside.y0 - 1]).all(1) & (
        path <= [inside.x1 + 1, inside.y1 + 1]
    ).all(1)
    return path[keep]


def _hidden(axes) -> list[str]:
    """Series that lie under another over their whole length: an opaque, solid line as wide hides
    what is beneath it.
    """
    names = {
        each.lines[0]: each.get_label()
        for each in axes.containers
        if isinstance(each, ErrorbarContainer)
    }
    names = {line: names.get(line, line.get_label()) for line in axes.lines if line.get_visible()}
    names = {line: name for line, name in names.items() if not name.startswith("_")}
    pairs = [(under, over) for under, over in combinations(names, 2) if names[under] != names[over]]
    return [
        f"hidden: {names[under]} behind {names[over]}"
        for under, over in pairs
        if _hides(over, under)
    ]


def _hides(over, under) -> bool:
    """Whether every place of one is within the width of the other, which is drawn above it."""
    # all own patterns are called "--"
    same = over._unscaled_dash_pattern == under._unscaled_dash_pattern
    solid = over.get_alpha() in (None, 1) and (over.get_linestyle() == "-" or same)
    wide = over.get_linewidth() >= under.get_linewidth() and over.get_zorder() >= under.get_zorder()
    below, above = _places(under), _places(over)
    if not (solid and wide and len(below) and len(above)):
        return False
    distances = np.hypot(*(below[:, None] - above[None]).transpose(2, 0, 1)).min(1)
    return bool((distances <= max(over.get_linewidth() * over.figure.dpi / 72, DRAWN / 2)).all())


def pale(svg: str) -> list[str]:
    """Colours of a figure on a page that cannot be read on light, or on dark: pictures and maps
    keep their own.
    """
    page = re.sub(r"<image .*?/>", "", MAP.sub("", follow_page(svg)), flags=re.DOTALL)
    body, found = (
        re.sub(r"<defs>.*?</defs>|<clipPath.*?</clipPath>", "", page, flags=re.DOTALL),
        set(),
    )
    for element, keys in re.findall(r"<(\w+)([^>]*)>", body):
        least = LETTERS if element == "text" else LINES
        found |= {
            colour for colour in dict(COLOUR.findall(keys)).values() if not _seen(colour, least)
        }
    return sorted(f"cannot be seen on light or on dark: {colour}" for colour in found)


def _seen(colour: str, least: float) -> bool:
    """What has no form that follows the page, as a name of a colour, is not seen on one of the
    two.
    """
    pair = re.findall(r"#\w{6}", colour) * (2 if colour.startswith("#") else 1)
    if named := re.fullmatch(r"var\(--(\w+)\)", colour):  # a colour of the pages
        pair = PAGE[named[1]]
        least = 1 if named[1] == "line" else LINES
    papers = zip(pair, (LIGHT_PAPER, DARK_PAPER), strict=False)
    return (
        colour == "none"
        or bool(pair)
        and all(contrast(shade, paper) >= least for shade, paper in papers)
    )
