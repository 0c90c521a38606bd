"""What is wrong with a figure, by matplotlib's own layout: its texts, and what lies on what."""

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from workflow.report.figures._style import lay_out

MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge
DRAWN = 4.0  # pixels between two places of a line that are looked at


def faults(figure) -> list[str]:
    """Lines on what is wrong, each with the words of the figure that it is about; none of a good one."""
    lay_out(figure)
    figure.canvas.draw()
    texts = [text for text in _texts(figure) if text.get_text().strip()]
    found = [f"raw mathematics: {text.get_text()}" for text in texts if MATHS.search(text.get_text())]
    found += _cut_or_over_another(figure, texts)
    for axes in _visible(figure):
        found += _covered(figure, axes)
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
            least, most = low - 1e-6 * abs(low), high + 1e-6 * abs(high)
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
