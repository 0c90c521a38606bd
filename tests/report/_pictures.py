"""What is wrong with a figure, by matplotlib's own layout: its texts, and what is over what."""

import re
from itertools import combinations

import numpy as np
from matplotlib.text import Text
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
from workflow.report.figures.style import lay_out

COLOUR = re.compile(r"(fill|stroke|color|stop-color)(?:: |=\")([^;\"]+)")
# least contrast with the paper (WCAG 1.4.11 and 1.4.3)
LINES = 3.0
LETTERS = 4.5
MATHS = re.compile(r"\\[a-z]+|\$[^$]*[\\^_{][^$]*\$")
TOUCH = 1.0  # pixels by which two boxes may meet, or a letter reach over the edge
FEWEST = 3  # ticks of a vertical axis


def faults(figure) -> list[str]:
    """List what is wrong, each with the words that it is about; nothing for a good figure."""
    lay_out(figure)
    figure.draw_without_rendering()
    texts = _texts(figure)
    found = [
        f"raw mathematics: {each.get_text()}" for each in texts if MATHS.search(each.get_text())
    ]
    found += _cut_or_over_another(figure, texts)
    for axes in _visible(figure):
        found += _covered(figure, axes)
        found += _few_ticks(axes)
    return found


def words(figure) -> list[str]:
    return [text.get_text() for text in _texts(figure)]


def _visible(figure) -> list:
    return [axes for axes in figure.axes if axes.get_visible()]


def _texts(figure) -> list[Text]:
    """List the texts that are seen; matplotlib keeps labels of ticks that are out of view."""
    found = list(figure.texts)
    legends = [*figure.legends, *(axes.get_legend() for axes in _visible(figure))]
    for legend in legends:
        if legend is not None:
            found += [legend.get_title(), *legend.get_texts()]
    for axes in _visible(figure):
        found += [axes.title, *axes.texts]
        if axes.axison:
            found += _axis_texts(axes.xaxis) + _axis_texts(axes.yaxis)
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def _axis_texts(axis) -> list[Text]:
    texts = [axis.label, axis.offsetText]
    low, high = sorted(axis.get_view_interval())
    least = low - 1e-6 * abs(low)  # of a logarithmic axis too
    most = high + 1e-6 * abs(high)
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if least <= tick.get_loc() <= most:
            texts += [tick.label1, tick.label2]
    return texts


def _overlap(a: Bbox, b: Bbox) -> bool:
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > TOUCH and height > TOUCH


def _cut_or_over_another(figure, texts: list[Text]) -> list[str]:
    found = []
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    whole = figure.bbox.padded(TOUCH)
    for text, box in boxes:
        if not all(whole.contains(x, y) for x, y in box.corners()):
            found.append(f"cut by the edge: {text}")
    for (a, box_a), (b, box_b) in combinations(boxes, 2):
        if _overlap(box_a, box_b):
            found.append(f"one over the other: {a} | {b}")
    return found


def _covered(figure, axes) -> list[str]:
    """Find lines under a legend, and axes under a legend of the whole figure."""
    found = []
    for legend in figure.legends:
        if _overlap(legend.get_window_extent(), axes.bbox):
            found.append(f"a legend over the axes {axes.get_title()}")
    legend = axes.get_legend()
    if legend is None:
        return found
    for line in axes.lines:
        points = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        if legend.get_window_extent().count_contains(points):
            found.append(f"under the legend: {line.get_label()}")
    return found


def _few_ticks(axes) -> list[str]:
    """Find vertical axes of numbers with too few ticks: a third one tells the scale."""
    low, high = sorted(axes.get_ylim())
    ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
    if len(ticks) >= FEWEST or not axes.axison or not axes.has_data():
        return []
    is_free = not isinstance(axes.yaxis.get_major_locator(), FixedLocator | NullLocator)
    return [f"{len(ticks)} ticks upwards: {axes.get_ylabel()}"] if is_free else []


def pale(svg: str) -> list[str]:
    """List the colours that cannot be seen on light or on dark pages; maps keep their own."""
    page = re.sub(r"<image .*?/>", "", MAP.sub("", follow_page(svg)), flags=re.DOTALL)
    body = re.sub(r"<defs>.*?</defs>|<clipPath.*?</clipPath>", "", page, flags=re.DOTALL)
    found = set()
    for element, attributes in re.findall(r"<(\w+)([^>]*)>", body):
        least = LETTERS if element == "text" else LINES
        # of two declarations of a property the last holds
        last = dict(COLOUR.findall(attributes))
        found |= {colour for colour in last.values() if not _is_seen(colour, least)}
    return sorted(f"cannot be seen on light or on dark: {colour}" for colour in found)


def _is_seen(colour: str, least: float) -> bool:
    """Say whether a colour is seen on both papers; a colour that is only a name is not."""
    if colour == "none":
        return True
    named = re.fullmatch(r"var\(--(\w+)\)", colour)
    if named:  # a colour of the pages
        pair = PAGE[named[1]]
        least = 1 if named[1] == "line" else LINES
    else:
        pair = re.findall(r"#\w{6}", colour)
        if colour.startswith("#"):
            pair *= 2
    papers = (LIGHT_PAPER, DARK_PAPER)
    return len(pair) == 2 and all(
        contrast(shade, paper) >= least for shade, paper in zip(pair, papers, strict=True)
    )
