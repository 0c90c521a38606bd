"""Cut the picture of a figure into its panels and the entries of its legend, each an SVG.

A figure that shrinks with the page cannot be read on a phone. A panel is narrow enough for a phone,
and a page sets panels side by side as far as it is wide. All keep the coordinates of the figure, so
that a mark is where it was.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.transforms import Bbox

PANEL, ENTRY, LEGEND = "panel", "entry", "legend"
PART = re.compile(rf'<g id="(?:{PANEL}|{ENTRY})_([\d.]+)_([\d.]+)_([\d.]+)_([\d.]+)">')
GROUP = re.compile(r"<g(?: [^>]*)?>|</g>")
DEFS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
POINTS = 72  # in an inch: the unit of the SVG
MARGIN = 2.0  # points around a part, so that no letter is cut


@dataclass(frozen=True)
class Part:
    """Some groups of a picture.

    box: in points, x and y of the upper left corner, width and height. body: the SVG of the groups.
    """

    box: tuple[str, ...]
    body: str

    def as_svg(self) -> str:
        """Write the part as an SVG of its own, in its natural size."""
        x, y, width, height = self.box
        view = f'viewBox="{x} {y} {width} {height}" width="{width}pt" height="{height}pt"'
        return f"<svg {view}>{self.body}</svg>"


def name_parts(figure) -> None:
    """Give all panels one width, and write where panels and entries are into ids of the SVG.

    The figure is laid out by now. Panels of a row have one height, so that their axes stay in line
    on a page.
    """
    shown = [axes for axes in figure.axes if axes.get_visible()]
    placed = [axes for axes in shown if axes.get_subplotspec() is not None]
    boxes = _fill_columns(figure, placed)
    for axes, box in boxes.items():
        in_row = [boxes[other] for other in placed if _row_of(other) == _row_of(axes)]
        low = min(other.y0 for other in in_row)
        high = max(other.y1 for other in in_row)
        panel = Bbox.from_extents(box.x0, low, box.x1, high)
        axes.set_gid(_name_part(figure, PANEL, panel))
    for axes in shown:  # of a colour bar
        if axes not in boxes:
            axes.set_gid(_name_part(figure, PANEL, axes.get_tightbbox()))
    for legend in figure.legends:
        _name_entries(figure, legend)


def _row_of(axes) -> range:
    return axes.get_subplotspec().rowspan


def _name_entries(figure, legend) -> None:
    """Write where the entries of a legend are, each with its handle, into ids of the SVG.

    Texts are measured as the SVG will have them: in pixels, whose fonts are hinted, each row would
    lie a little off, and the tenth be cut.
    """
    legend.set_gid(LEGEND)
    dpi = figure.dpi
    figure.dpi = POINTS
    renderer = RendererSVG(*figure.bbox.size, io.StringIO(), image_dpi=POINTS)
    legend.draw(renderer)  # else its texts have no place yet
    for text in legend.get_texts():
        em = text.get_fontsize()
        handle = (legend.handlelength + legend.handletextpad) * em
        box = text.get_window_extent(renderer)
        middle = (box.y0 + box.y1) / 2  # the letters g and x make boxes of other heights
        left = box.x0 - handle
        right = box.x1 + 0.4 * em
        bottom = middle - 0.7 * em
        top = middle + 0.7 * em
        entry = Bbox.from_extents(left, bottom, right, top)
        text.set_gid(_name_part(figure, ENTRY, entry))
    figure.dpi = dpi


def _fill_columns(figure, placed: list) -> dict:
    """Make each panel, with its labels, as wide as its column; return their boxes in pixels.

    A layout makes axes equal, so that a panel with labels on one side would be wider than a phone.
    """
    boxes = {axes: axes.get_tightbbox() for axes in placed}
    margin = MARGIN * figure.dpi / POINTS
    # the widest labels on each side
    lefts = [axes.bbox.x0 - box.x0 for axes, box in boxes.items()]
    rights = [box.x1 - axes.bbox.x1 for axes, box in boxes.items()]
    left = max(lefts, default=0) + margin
    right = max(rights, default=0) + 2 * margin
    filled = {}
    for axes, box in boxes.items():
        place = axes.get_subplotspec()
        width = figure.bbox.width / place.get_gridspec().ncols
        start = place.colspan.start * width
        end = start + width
        # pixels that the axes alone take, without their labels
        inner = Bbox.from_extents(
            start + left,
            axes.bbox.y0,
            end - right,
            axes.bbox.y1,
        )
        axes.set_position(inner.transformed(figure.transFigure.inverted()))
        filled[axes] = Bbox.from_extents(
            start + margin,
            box.y0,
            end - margin,
            box.y1,
        )
    return filled


def _name_part(figure, kind: str, box: Bbox) -> str:
    """Name a part by its box, given in pixels from the bottom, in points from the top."""
    scale = POINTS / figure.dpi
    numbers = [
        box.x0 * scale - MARGIN,
        (figure.bbox.height - box.y1) * scale - MARGIN,
        box.width * scale + 2 * MARGIN,
        box.height * scale + 2 * MARGIN,
    ]
    written = [f"{max(0.0, number):.1f}" for number in numbers]
    return "_".join([kind, *written])


def cut(svg: str) -> str:
    """Turn a picture of `name_parts` into its legend, an SVG an entry, and an SVG for each panel.

    What all parts use, as paths that cut off the data, is in the first of them. What is in no part
    is left out: the foot, which a page says in its own words.
    """
    panels = list(_panels(svg))
    if not panels:
        return svg
    entries = list(_entries(svg))
    parts = entries + panels
    rest = svg
    for part in parts:
        rest = rest.replace(part.body, "", 1)
    shared = "".join(DEFS.findall(rest))
    parts[0] = Part(parts[0].box, shared + parts[0].body)
    shown = [part.as_svg() for part in parts]
    key = "".join(shown[: len(entries)])
    legend = f'<span class="key">{key}</span>' if key else ""
    return legend + "".join(shown[len(entries) :])


def _panels(svg: str) -> Iterator[Part]:
    for match in PART.finditer(svg):
        if match.group().startswith(f'<g id="{PANEL}'):
            start = match.start()
            yield Part(match.groups(), svg[start : _end(svg, start)])


def _entries(svg: str) -> Iterator[Part]:
    """List the entries of the legend: each is the groups up to its text, the mark first."""
    opening = f'<g id="{LEGEND}">'
    start = svg.find(opening)
    if start < 0:
        return
    end = _end(svg, start)
    start += len(opening)
    for match in PART.finditer(svg, start, end):
        after = _end(svg, match.start())
        yield Part(match.groups(), svg[start:after])
        start = after


def _end(svg: str, start: int) -> int:
    """Find where the group that begins at `start` ends."""
    depth = 0
    for tag in GROUP.finditer(svg, start):
        if tag.group() == "</g>":
            depth -= 1
        elif not tag.group().endswith("/>"):
            depth += 1
        if not depth:
            return tag.end()
    raise ValueError("an SVG whose groups do not end")
