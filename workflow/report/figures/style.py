"""Give all figures one look: text stays text in one size, and a panel is as wide as a phone."""

import io
import math
import textwrap
from collections.abc import Callable, Iterable

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import flatten
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    EngFormatter,
    Formatter,
    FuncFormatter,
    LogFormatterMathtext,
    LogitFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
    ScalarFormatter,
)
from matplotlib.transforms import Bbox

from workflow.report.figures.colours import GREY
from workflow.report.figures.marks import shows
from workflow.report.figures.panels import POINTS, PanelLayout
from workflow.results.numbers import MINUS, number

SIZE = 9  # points of all text in a figure, shown in its own size: 12 pixels on a page
WIDTH = 3.6  # inches of a panel: 346 pixels, what the narrowest phones leave between their margins
SMALL = 1.75  # inches of a panel of which a phone shows two side by side
LETTERS = 12  # that fit side by side in an inch
ROW = 0.22  # inches of height of a row of a legend
OFFSETS = (5, 4), (5, -10), (-5, 4), (-5, -10)  # of names from their points, in typographic points
STILL = "barely moved"  # a learned span
NO_LINE = ("None", "none", "", " ")  # styles of marks alone
END = "end"  # the id of names at the ends of lines
MESSAGE = "message"  # the id of the words shown in place of a figure
NEAR = 3  # pixels between a name and what it must not touch
IN_PLACE = 14  # letters of a name that fits next to its line
HIGH = 0.6  # of a panel that its axes cover, about
LINE = 10.5  # points between two names at the ends of lines
FAR = 12.0  # points from a name to the end of its line, at most
# So that lines that lie on each other can all be seen; a dotted line is what they are compared
# with.
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (2, 2)))

STYLE = {
    "svg.hashsalt": "attention-suite",
    "svg.fonttype": "none",
    "path.simplify": False,  # so that a line has a point for each row that it shows
    "text.parse_math": False,  # a label with two dollars is text
    "font.family": "DejaVu Sans",
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "legend.fontsize": SIZE,
    "legend.title_fontsize": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "figure.titlesize": SIZE,
    "figure.labelsize": SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    # where it comes to stand anyway: to find that out takes longer than to draw the rest
    "axes.titley": 1.0,
    "axes.grid": True,
    "grid.color": "#BBBBBB",
    "grid.linewidth": 0.4,
    "grid.alpha": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}
TICKS = 3  # that a logarithmic axis has at least
# multiples of a power of ten that have a tick, coarsest first
PARTS = (1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)


def canvas(
    columns: int = 1,
    width: float = WIDTH,
    height: float = 2.6,
    rows: int = 1,
    layout: LayoutEngine | None = None,
    **options,
):
    """Make a figure and its axes, `width` x `height` inches a panel."""
    matplotlib.rcdefaults()  # whatever a matplotlibrc says
    matplotlib.rcParams.update(STYLE)
    figure = Figure(figsize=(width * columns, height * rows), layout=layout or PanelLayout())
    FigureCanvasAgg(figure)  # without it matplotlib makes a PNG for each text that it measures
    return figure, figure.subplots(rows, columns, **options)


def lay_out(figure) -> None:
    """Lay out a figure once.

    With a layout engine, even "none", savefig draws the whole figure twice in every format.
    """
    write_plain_ticks(figure.axes)
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
        figure.set_layout_engine(None)


class PlainTicks(Formatter):
    """Write as plain numbers the ticks that a formatter labels in markup for maths.

    Markup for maths is off for all text of figures.
    """

    def __init__(self, markup: Formatter):
        self.markup = markup

    def set_locs(self, locs) -> None:
        super().set_locs(locs)
        self.markup.set_locs(locs)  # it labels some of the minor ticks alone

    def __call__(self, value: float, pos: int | None = None) -> str:
        if not self.markup(value, pos):
            return ""
        # one of 0.999 and 0.9999 must not be 1
        text = f"{value:.12g}" if isinstance(self.markup, LogitFormatter) else number(float(value))
        return text.replace("-", MINUS)


def write_plain_ticks(every: Iterable) -> None:
    """Replace the labels of ticks in markup for maths: of logarithmic axes of any kind.

    every: axes; those inside them, and second scales, are axes too.
    """
    for axes in every:
        write_plain_ticks(axes.child_axes)
        for axis in (axes.xaxis, axes.yaxis):
            _write_plain(axis.major.formatter, axis.set_major_formatter)
            _write_plain(axis.minor.formatter, axis.set_minor_formatter)


def _write_plain(formatter: Formatter, replace: Callable[[Formatter], None]) -> None:
    if isinstance(formatter, LogFormatterMathtext | LogitFormatter):
        replace(PlainTicks(formatter))
    elif isinstance(formatter, ScalarFormatter):
        formatter.set_useMathText(False)


def as_svg(figure) -> str:
    """Lay out a figure and write it as SVG, without a date: equal figures give equal text."""
    lay_out(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def draw_message(message: str):
    """Draw a message in the files of a figure whose runs are missing or failed.

    Pages leave such a figure out.
    """
    figure, axes = canvas()
    axes.axis("off")
    axes.text(0.5, 0.5, message, ha="center", va="center", color=GREY, wrap=True, gid=MESSAGE)
    return figure


def fold(title: str, width: float = WIDTH) -> str:
    """Fold a title into lines as wide as a panel of `width` inches."""
    return textwrap.fill(title, int(LETTERS * width), break_on_hyphens=False)


def share_legend(figure) -> None:
    """Draw one legend above all panels, with each label once; the figure grows by its height."""
    handles: dict[str, object] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if not handles:
        return
    width, height = figure.get_size_inches()
    longest = max(len(name) for name in handles)
    letters = int(LETTERS * width)
    in_a_row = letters // (longest + 7)  # 7 letters: a handle and its margins
    columns = max(1, min(len(handles), in_a_row))
    rows = math.ceil(len(handles) / columns)
    figure.set_size_inches(width, height + ROW * rows)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper center",
        ncols=columns,
    )


def label_ends(figure) -> None:
    """Write the name of each line at its right end too, where all names of a panel find room.

    Names are short, and none touches another. It comes last: limits and scales of the axes are
    fixed, and only their height can still change a little.
    """
    for axes in figure.axes:
        ends = _ends_of(axes)
        if len(ends) < 2 or max(len(name) for name, _ in ends) > IN_PLACE:
            continue
        panel_height = POINTS * figure.get_size_inches()[1] / axes.get_gridspec().nrows
        heights = [_height_in_axes(axes, end) * HIGH * panel_height for _, end in ends]
        moved = _move_apart(heights)
        shifts = [new - old for new, old in zip(moved, heights, strict=True)]
        if max(abs(shift) for shift in shifts) > FAR:
            continue
        for (name, end), shift in zip(ends, shifts, strict=True):
            axes.annotate(
                name,
                end,
                (6, shift),
                textcoords="offset points",
                va="center",
                annotation_clip=False,
                gid=END,
            )


def _height_in_axes(axes, point: tuple[float, float]) -> float:
    """Return how far up a point is: 0 at the bottom of the axes, 1 at the top."""
    pixels = axes.transData.transform(point)
    return axes.transAxes.inverted().transform(pixels)[1]


def _ends_of(axes) -> list[tuple[str, tuple[float, float]]]:
    """List the named lines of some length with the place of their last point that is drawn."""
    ends = []
    for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
        lines = [part for part in flatten([handle]) if isinstance(part, Line2D)]
        if not lines or name == STILL:
            continue
        line = lines[0]
        if line.get_linestyle() in NO_LINE:
            continue
        points = np.asarray(line.get_xydata(), float)
        points = points[np.isfinite(points).all(1)]
        # not a level from edge to edge
        if len(points) > 1 and line.get_transform() == axes.transData:
            last = points[:, 0].argmax()
            ends.append((name, tuple(points[last])))
    return ends


def _move_apart(heights: list[float]) -> list[float]:
    """Move heights up until each is a line of text above the one below.

    Then all move down by the mean of that, so that names stay near their lines.
    """
    moved = list(heights)
    least = -np.inf
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        moved[place] = max(moved[place], least)
        least = moved[place] + LINE
    shifts = [new - old for new, old in zip(moved, heights, strict=True)]
    down = float(np.mean(shifts))
    return [height - down for height in moved]


def place_names(figure) -> None:
    """Place each point's name nearer to it than to others and clear of all other names.

    A name without such a place is hidden. It comes last: it lays the figure out, without room for
    names, which stay within their axes.
    """
    for axes in figure.axes:
        for name in axes.texts:
            name.set_in_layout(False)
    lay_out(figure)
    for axes in figure.axes:
        marks = [np.empty((0, 2))]  # of each line, in pixels
        for line in axes.lines:
            marks.append(axes.transData.transform(np.asarray(line.get_xydata(), float)))
        kept: list[Bbox] = []
        for name in axes.texts:
            box = _place_name(name, np.concatenate(marks), kept)
            name.set_visible(box is not None)
            if box is not None:
                kept.append(box)


def _place_name(name, marks: np.ndarray, kept: list[Bbox]) -> Bbox | None:
    """Move a name to the first offset where it is clear, and return its box; None if none is."""
    own = name.axes.transData.transform(name.xy)
    others = marks[_distances(marks, own) > 1]
    for offset in OFFSETS:
        name.set_position(offset)
        name.set_horizontalalignment("left" if offset[0] > 0 else "right")
        box = name.get_window_extent().padded(NEAR)
        if _is_clear(box, own, others, kept, name.axes.bbox):
            return box
    return None


def _distances(points: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Compute the distance of each point, N 2, from a place."""
    away = points - place
    return np.hypot(away[:, 0], away[:, 1])


def _is_clear(
    box: Bbox, own: np.ndarray, others: np.ndarray, kept: list[Bbox], inside: Bbox
) -> bool:
    """Whether a name is nearest to its own point and touches no other name, point or edge."""
    if any(box.overlaps(other) for other in kept):
        return False
    if box.count_contains(others):
        return False
    if box.x0 <= inside.x0 or box.x1 >= inside.x1:
        return False
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    to_own = np.hypot(*(own - middle))
    to_others = _distances(others, middle)
    return bool(to_others.min(initial=np.inf) > to_own)


def draw_points(axes, data: pd.DataFrame, x: str, colour: str) -> None:
    """Draw the values that stand in place of an interval as small dots, at the x of their mean."""
    if "points" not in data:
        return
    for place, points in zip(data[x], data["points"], strict=True):
        if isinstance(points, list):
            axes.plot([place] * len(points), points, ".", color=colour, markersize=4, alpha=0.7)


def bars_of(
    data: pd.DataFrame, mean: str = "mean", low: str = "low", high: str = "high"
) -> list[pd.Series]:
    """Return how far an interval reaches below and above each mean, as `errorbar` takes it.

    Where there is no interval, it reaches 0.
    """
    values = data[mean].astype(float)
    lows = data[low].astype(float)
    highs = data[high].astype(float)
    below = values - lows
    above = highs - values
    return [below.fillna(0), above.fillna(0)]


def draw_curve(axes, data: pd.DataFrame, x: str, colour: str, label: str, **style) -> None:
    """Draw a line through the means, with its interval as a band, or the points of few seeds.

    Where the numbers say that learned spans are `unmoved`, the mark is hollow.
    """
    data = data.dropna(subset=["mean"]).sort_values(x)
    look = {"marker": "o", "markersize": 4, "color": colour, "label": label} | style
    places = data[x].to_numpy(float)
    line = axes.plot(places, data["mean"].to_numpy(float), **look)
    draw_points(axes, data, x, colour)
    band = None
    banded = data.dropna(subset=["low", "high"])
    if len(banded):
        places = banded[x].to_numpy(float)
        low = banded["low"].to_numpy(float)
        high = banded["high"].to_numpy(float)
        band = axes.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
    shows([line, band], data.index)
    still = data[:0]
    if "unmoved" in data:
        still = data[data["unmoved"].astype(bool)]
    if len(still):
        axes.plot(
            still[x],
            still["mean"],
            "o",
            color=colour,
            markerfacecolor="white",
            markersize=6,
            label=STILL,
        )


def pick_holding(runs: pd.DataFrame, fact: str) -> pd.DataFrame:
    """Pick the runs whose record has this fact."""
    has_fact = [isinstance(value, dict | list) for value in runs[fact]]
    return runs[pd.Series(has_fact, index=runs.index, dtype=bool)]


def set_count_ticks(axis) -> None:
    """Write the ticks of an axis as 0.01, 20, 150k or 20M."""
    thousands = EngFormatter(sep="")

    def write(value: float, _position: int | None) -> str:
        return thousands(value) if value >= 1000 else f"{value:.4g}"

    axis.set_major_formatter(FuncFormatter(write))


def set_log(axis) -> None:
    """Make an axis logarithmic, once its data are drawn, with as few ticks as tell its range."""
    set_scale = getattr(axis.axes, f"set_{axis.axis_name}scale")
    set_scale("log")
    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(log_locator(low, high))
    axis.set_minor_formatter(NullFormatter())
    set_count_ticks(axis)


def set_powers(axis, labels: dict[float, str]) -> None:
    """Give an axis a scale of powers of two, with these labels at these values alone."""
    set_scale = getattr(axis.axes, f"set_{axis.axis_name}scale")
    set_scale("log", base=2)
    axis.set_ticks(list(labels), list(labels.values()))
    axis.set_minor_locator(NullLocator())


def set_span_axis(axes, values) -> None:
    """Show S on a scale of powers of two.

    Of more than four values every second is named, the largest among them.
    """
    ticks = sorted(set(values))
    labels = {tick: f"{tick:.0f}" for tick in ticks}
    if len(ticks) > 4:
        labels |= dict.fromkeys(ticks[-2::-2], "")
    set_powers(axes.xaxis, labels)
    axes.set_xlabel("span limit S")


def log_locator(low: float, high: float) -> LogLocator | MaxNLocator:
    """Find the coarsest locator with enough ticks between two values.

    On a short axis, which is nearly linear, that is a linear one.
    """
    for parts in PARTS:
        locator = LogLocator(subs=parts)
        shown = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
        if len(shown) >= TICKS:
            return locator
    return MaxNLocator(5, min_n_ticks=TICKS)
