"""Cut the picture of a figure into its panels and the entries of its legend, each an SVG in its own
size.

A figure that shrinks with the page cannot be read on a phone. A panel is narrow enough for a phone,
and a page sets panels side by side as far as it is wide. All keep the coordinates of the figure, so
that a mark is where it was.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.transforms import Bbox

PANEL, ENTRY, LEGEND = "panel", "entry", "legend"
PART = re.compile(rf'<g id="(?:{PANEL}|{ENTRY})_([\d.]+)_([\d.]+)_([\d.]+)_([\d.]+)">')
GROUP = re.compile(r"<g(?: [^>]*)?>|</g>")
DEFS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
POINTS = 72  # in an inch: the unit of the SVG
MARGIN = 2.0  # points around a part, so that no letter is cut


@dataclass(frozen=True)
class Part:
    """Some groups of a picture, with their box in points: x and y of the upper left corner, width,
    height.
    """

    box: tuple[str, ...]
    body: str

    def as_svg(self) -> str:
        """Write the part as an SVG of its own, in its natural size."""
        x, y, width, height = self.box
        view = f'viewBox="{x} {y} {width} {height}" width="{width}pt" height="{height}pt"'
        return f"<svg {view}>{self.body}</svg>"


def name_parts(figure) -> None:
    """Give all panels one width, and write where panels and entries are into ids of the SVG. It is
    laid out by now.

    Panels of a row have one height, so that their axes stay in line on a page.
    """
    placed = [
        axes for axes in figure.axes if axes.get_visible() and axes.get_subplotspec() is not None
    ]
    boxes = _fill_columns(figure, placed)
    for axes, box in boxes.items():
        row = [
            other
            for other in placed
            if other.get_subplotspec().rowspan == axes.get_subplotspec().rowspan
        ]
        low, high = min(boxes[other].y0 for other in row), max(boxes[other].y1 for other in row)
        axes.set_gid(_write(figure, PANEL, Bbox([[box.x0, low], [box.x1, high]])))
    for axes in figure.axes:  # of a colour bar
        if axes.get_visible() and axes not in boxes:
            axes.set_gid(_write(figure, PANEL, axes.get_tightbbox()))
    for legend in figure.legends:
        legend.set_gid(LEGEND)
        legend.draw(RendererAgg(*figure.bbox.size, figure.dpi))  # else its texts have no place yet
        for text in legend.get_texts():
            handle = (
                (legend.handlelength + legend.handletextpad)
                * text.get_fontsize()
                * figure.dpi
                / POINTS
            )
            box, size = text.get_window_extent(), text.get_fontsize() * figure.dpi / POINTS
            middle = (box.y0 + box.y1) / 2  # the letters g and x make boxes of other heights
            low, high = middle - 0.7 * size, middle + 0.7 * size
            text.set_gid(
                _write(figure, ENTRY, Bbox([[box.x0 - handle, low], [box.x1 + 0.4 * size, high]]))
            )


def _fill_columns(figure, placed: list) -> dict:
    """Set axes so that each panel, with its labels, is as wide as its column; return the boxes of
    panels in pixels.

    A layout makes axes equal, so that a panel with labels on one side would be wider than a phone.
    """
    boxes = {axes: axes.get_tightbbox() for axes in placed}
    margin = MARGIN * figure.dpi / POINTS
    left = max((axes.bbox.x0 - box.x0 for axes, box in boxes.items()), default=0) + margin
    right = max((box.x1 - axes.bbox.x1 for axes, box in boxes.items()), default=0) + 2 * margin
    filled = {}
    for axes, box in boxes.items():
        place = axes.get_subplotspec()
        width = figure.bbox.width / place.get_gridspec().ncols
        start = place.colspan.start * width
        bottom, top = axes.bbox.y0, axes.bbox.y1
        inner = Bbox([[start + left, bottom], [start + width - right, top]])
        axes.set_position(inner.transformed(figure.transFigure.inverted()))
        filled[axes] = Bbox([[start + margin, box.y0], [start + width - margin, box.y1]])
    return filled


def _write(figure, kind: str, box: Bbox) -> str:
    """Name a part by its box, from pixels that start at the bottom to points that start at the
    top.
    """
    scale = POINTS / figure.dpi
    x, y = box.x0 * scale - MARGIN, (figure.bbox.height - box.y1) * scale - MARGIN
    size = box.width * scale + 2 * MARGIN, box.height * scale + 2 * MARGIN
    return "_".join([kind, *(f"{max(0.0, number):.1f}" for number in (x, y, *size))])


def cut(svg: str) -> str:
    """Turn a picture of `name_parts` into its legend, an SVG an entry, and an SVG for each panel.

    What all parts use, as paths that cut off the data, is in the first of them. What is in no part
    is left out: the foot, which a page says in its own words.
    """
    parts = [*_panels(svg)]
    if not parts:
        return svg
    entries = [*_entries(svg)]
    rest = svg
    for part in (*entries, *parts):
        rest = rest.replace(part.body, "", 1)
    shared = "".join(DEFS.findall(rest))
    first = (entries or parts)[0]
    shown = {part: part.as_svg() for part in (*entries, *parts)}
    shown[first] = Part(first.box, shared + first.body).as_svg()
    key = "".join(shown[entry] for entry in entries)
    legend = f'<span class="key">{key}</span>' if key else ""
    return legend + "".join(shown[part] for part in parts)


def _panels(svg: str) -> Iterator[Part]:
    for match in PART.finditer(svg):
        if match.group().startswith(f'<g id="{PANEL}'):
            yield Part(match.groups(), svg[match.start() : _end(svg, match.start())])


def _entries(svg: str) -> Iterator[Part]:
    """List the entries of the legend: each is the groups up to its text, the mark first."""
    start = svg.find(f'<g id="{LEGEND}">')
    if start < 0:
        return
    end = _end(svg, start)
    start += len(f'<g id="{LEGEND}">')
    for match in PART.finditer(svg, start, end):
        after = _end(svg, match.start())
        yield Part(match.groups(), svg[start:after])
        start = after


def _end(svg: str, start: int) -> int:
    """Find where the group that begins at `start` ends."""
    depth = 0
    for tag in GROUP.finditer(svg, start):
        if not tag.group().endswith("/>"):
            depth += -1 if tag.group() == "</g>" else 1
        if not depth:
            return tag.end()
    raise ValueError("an SVG whose groups do not end")
