"""Lay out the panels of a figure, and cut its picture into panels and entries of the legend, each
an SVG.

A figure that shrinks with the page cannot be read on a phone. A panel is narrow enough for a phone,
and a page sets panels side by side as far as it is wide. All keep the coordinates of the figure, so
that a mark is where it was.
"""

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.layout_engine import ConstrainedLayoutEngine, LayoutEngine
from matplotlib.transforms import Bbox

PANEL, ENTRY, LEGEND = "panel", "entry", "legend"
PART = re.compile(rf'<g id="(?:{PANEL}|{ENTRY})_([\d.]+)_([\d.]+)_([\d.]+)_([\d.]+)">')
GROUP = re.compile(r"<g(?: [^>]*)?>|</g>")
DEFS = re.compile(r"<defs>.*?</defs>", re.DOTALL)
POINTS = 72  # in an inch: the unit of the SVG
MARGIN = 2.0  # points around a part, so that no letter is cut
PLACED = 4  # times at most, because another size may change the ticks


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


@dataclass(frozen=True)
class Margins:
    """What tick labels, axis labels and title take on each side of some axes, in pixels.

    title: its width. It is above the middle of the axes, and may be wider than they are.
    y_label: the height of the y-axis's label. It is next to their middle, and may be higher.
    to_x_label, to_y_label: how far below and to the left of the axes their labels begin.
    """

    left: float
    right: float
    bottom: float
    top: float
    title: float = 0.0
    y_label: float = 0.0
    to_x_label: float = 0.0
    to_y_label: float = 0.0


class PanelLayout(LayoutEngine):
    """Lays out panels in rows and columns between the legend and the foot.

    All panels have one width, and all axes one size. Panels are measured again only where their new
    size has changed their ticks.
    """

    _adjust_compatible = False
    _colorbar_gridspec = False

    def execute(self, fig) -> None:
        placed = _placed(fig)
        bottom, top = _free_heights(fig)
        point = fig.dpi / POINTS
        usual = Margins(left=48 * point, right=8 * point, bottom=34 * point, top=18 * point)
        margins = dict.fromkeys(placed, usual)
        ticks = None
        for _ in range(PLACED):
            _fill_columns(fig, margins)
            _fill_rows(fig, margins, bottom, top)
            if _ticks_of(placed) == ticks:
                break
            ticks = _ticks_of(placed)
            margins = _measure(placed)
        _place_labels(margins)
        _name_panels(fig, margins)
        _name_entries(fig)


class MapLayout(ConstrainedLayoutEngine):
    """Lays out a column of panels above a colour bar."""

    def execute(self, fig) -> None:
        super().execute(fig)
        margins = _measure(_placed(fig))
        _fill_columns(fig, margins)
        _place_labels(margins)
        _name_panels(fig, margins)
        for axes in fig.axes:  # of the colour bar
            if axes not in margins:
                axes.set_gid(_name_part(fig, PANEL, axes.get_tightbbox()))


def _placed(figure) -> list:
    """List the axes of panels; those of a colour bar have no place in the grid."""
    shown = [axes for axes in figure.axes if axes.get_visible()]
    return [axes for axes in shown if axes.get_subplotspec() is not None]


def _free_heights(figure) -> tuple[float, float]:
    """Return the heights between which panels have room: above the foot and below the legend."""
    gap = MARGIN * figure.dpi / POINTS
    bottom = 0.0
    if figure.get_supxlabel():
        bottom = figure._supxlabel.get_window_extent().y1 + gap
    top = figure.bbox.height
    for legend in figure.legends:
        top = legend.get_tightbbox().y0 - gap
    return bottom, top


def _measure(placed: list) -> dict:
    return {axes: _margins_of(axes) for axes in placed}


def _margins_of(axes) -> Margins:
    """Measure tick labels and what else surrounds some axes, then add the labels of both axes.

    matplotlib would measure all tick labels twice: to place the axis labels, and with them. Title
    and axis labels may be longer than the axes, at most as long as the panel.
    """
    x, y = axes.xaxis, axes.yaxis
    for axis in (x, y):
        axis.set_label_coords(0, 0)
        axis.label.set_visible(False)
    inner = axes.bbox
    box = axes.get_tightbbox(for_layout_only=True)
    bottom = inner.y0 - box.y0
    left = inner.x0 - box.x0
    for axis in (x, y):
        axis.label.set_visible(True)
    x_label = x.label.get_window_extent()
    y_label = y.label.get_window_extent()
    point = axes.figure.dpi / POINTS
    to_x_label = bottom + x.labelpad * point
    to_y_label = left + y.labelpad * point
    return Margins(
        left=to_y_label + y_label.width if axes.get_ylabel() else left,
        right=box.x1 - inner.x1,
        bottom=to_x_label + x_label.height if axes.get_xlabel() else bottom,
        top=box.y1 - inner.y1,
        title=axes.title.get_window_extent().width,
        y_label=y_label.height,
        to_x_label=to_x_label,
        to_y_label=to_y_label,
    )


def _ticks_of(placed: list) -> list[list[float]]:
    ticks = []
    for axes in placed:
        ticks += [axes.xaxis.get_majorticklocs().tolist(), axes.yaxis.get_majorticklocs().tolist()]
    return ticks


def _fill_columns(figure, margins: dict) -> None:
    """Make each panel, with its labels, as wide as its column.

    If only the axes were equal, a panel with labels on one side would be wider than a phone.
    """
    gap = MARGIN * figure.dpi / POINTS
    # the widest labels on each side
    left = max((each.left for each in margins.values()), default=0) + gap
    right = max((each.right for each in margins.values()), default=0) + 2 * gap
    title = max((each.title for each in margins.values()), default=0) + 2 * gap
    for axes in margins:
        start, end = _column_of(figure, axes)
        # The title is above their middle: if it is long, they end where it still fits the column.
        for_title = left + title - (end - start)
        last = end - max(right, for_title)
        inner = Bbox.from_extents(start + left, axes.bbox.y0, last, axes.bbox.y1)
        axes.set_position(inner.transformed(figure.transFigure.inverted()))


def _column_of(figure, axes) -> tuple[float, float]:
    """Return where the column of some axes begins and ends, in pixels."""
    place = axes.get_subplotspec()
    width = figure.bbox.width / place.get_gridspec().ncols
    start = place.colspan.start * width
    return start, start + width


def _fill_rows(figure, margins: dict, bottom: float, top: float) -> None:
    """Give all axes one height, so that rows of panels fill what is between two heights."""
    gap = MARGIN * figure.dpi / POINTS
    rows = _rows_of(margins)
    labels = 0.0
    for row in rows:
        labels += _most(row, "bottom") + _most(row, "top") + 2 * gap
    height = (top - bottom - labels) / max(1, len(rows))
    above = top
    for row in rows:
        high = above - gap - _most(row, "top")
        low = high - height
        above = low - _most(row, "bottom") - gap
        for axes in row:
            inner = Bbox.from_extents(axes.bbox.x0, low, axes.bbox.x1, high)
            axes.set_position(inner.transformed(figure.transFigure.inverted()))


def _rows_of(margins: dict) -> list[dict]:
    """Split axes with their margins into rows, from the top."""
    rows: dict[int, dict] = {}
    for axes, mine in margins.items():
        row = axes.get_subplotspec().rowspan.start
        rows.setdefault(row, {})[axes] = mine
    return [rows[row] for row in sorted(rows)]


def _most(row: dict, side: str) -> float:
    """Return the largest margin of a row on one side."""
    return max(getattr(each, side) for each in row.values())


def _place_labels(margins: dict) -> None:
    """Place the labels of both axes next to the tick labels.

    Otherwise all tick labels are measured again whenever the figure is drawn.
    """
    for axes, mine in margins.items():
        axes.xaxis.set_label_coords(0.5, -mine.to_x_label / axes.bbox.height)
        axes.yaxis.set_label_coords(-mine.to_y_label / axes.bbox.width, 0.5)


def _name_panels(figure, margins: dict) -> None:
    """Write where panels are into ids of the SVG.

    Panels of a row have one height, so that their axes stay in line on a page.
    """
    gap = MARGIN * figure.dpi / POINTS
    for row in _rows_of(margins):
        low = math.inf
        high = -math.inf
        for axes, mine in row.items():
            middle = (axes.bbox.y0 + axes.bbox.y1) / 2
            low = min(low, axes.bbox.y0 - mine.bottom, middle - mine.y_label / 2)
            high = max(high, axes.bbox.y1 + mine.top, middle + mine.y_label / 2)
        for axes in row:
            start, end = _column_of(figure, axes)
            panel = Bbox.from_extents(start + gap, low, end - gap, high)
            axes.set_gid(_name_part(figure, PANEL, panel))


def _name_entries(figure) -> None:
    """Write where the entries of legends are, each with its handle, into ids of the SVG.

    Texts are measured as the SVG will have them: in pixels, whose fonts are hinted, each row would
    lie a little off, and the tenth be cut.
    """
    dpi = figure.dpi
    for legend in figure.legends:
        legend.set_gid(LEGEND)
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
    """Turn the picture of a figure into its legend, an SVG an entry, and an SVG for each panel.

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
