"""Give all figures one look, which can be read at the width of a phone and keeps text as text."""

import io
import textwrap
from collections.abc import Iterable

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
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
from workflow.report.numbers import MINUS, number

WIDTH = 6.4  # inches of a whole figure; one width, so that text has one size on a page
LETTERS = 70  # of a title that fit side by side over a whole figure
IN_LEGEND, ROW = 90, 0.22  # of a legend: letters that fit side by side; inches of height of a row
OFFSETS = (5, 4), (5, -10), (-5, 4), (-5, -10)  # of names from their points, in typographic points
STILL = "hardly moved from its start"  # a learned span
NEAR = 3  # pixels between a name and what it must not touch
# So that lines that lie on each other can all be seen; a dotted line is what they are compared with.
DASHES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (2, 2)))

STYLE = {
    "svg.hashsalt": "attention-suite",
    "svg.fonttype": "none",
    "path.simplify": False,  # so that a line has a point for each row that it shows
    "text.parse_math": False,  # a label with two dollars is text
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.titley": 1.0,  # where it comes to stand anyway: to find that out takes longer than to draw the rest
    "axes.grid": True,
    "grid.color": "#BBBBBB",
    "grid.linewidth": 0.4,
    "grid.alpha": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}
TICKS = 3  # that a logarithmic axis has at least
PARTS = (1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)  # multiples of a power of ten that have a tick, coarsest first


def canvas(columns: int = 1, width: float | None = None, height: float = 3.2, rows: int = 1, **options):
    """Make a figure and its axes, `width` x `height` inches a panel; without `width` all columns share WIDTH."""
    matplotlib.rcdefaults()  # whatever a matplotlibrc says
    matplotlib.rcParams.update(STYLE)
    width = width or WIDTH / columns
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def lay_out(figure) -> None:
    """Lay out a figure once: with an engine, even "none", savefig draws the whole figure twice in every format."""
    write_plain_ticks(figure.axes)
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        if not axis.get_label_text():
            axis.set_label_coords(0, 0)  # else all numbers on the axis are measured, to place a label that is not there
    if engine := figure.get_layout_engine():
        engine.execute(figure)
        figure.set_layout_engine(None)


class PlainTicks(Formatter):
    """Writes as plain numbers the ticks that a formatter labels in markup for maths, which is off for all text here."""

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
    """Replace the labels of ticks that matplotlib writes in markup for maths: of logarithmic axes of any kind.

    every: axes; those inside them, and second scales, are axes too.
    """
    for axes in every:
        write_plain_ticks(axes.child_axes)
        for axis in (axes.xaxis, axes.yaxis):
            for ticks, put in ((axis.major, axis.set_major_formatter), (axis.minor, axis.set_minor_formatter)):
                if isinstance(ticks.formatter, LogFormatterMathtext | LogitFormatter):
                    put(PlainTicks(ticks.formatter))
                elif isinstance(ticks.formatter, ScalarFormatter):
                    ticks.formatter.set_useMathText(False)


def as_svg(figure) -> str:
    """Lay out a figure and return it as SVG, without a date, so that the same figure is the same text."""
    lay_out(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def draw_message(message: str):
    """Draw a message in place of a figure whose runs are missing or failed."""
    figure, axes = canvas()
    axes.axis("off")
    axes.text(0.5, 0.5, message, ha="center", va="center", color=GREY, wrap=True)
    return figure


def fold(title: str, panels: int, size: int = 9) -> str:
    """Fold a title into lines as wide as one of so many panels; size: of a letter, in points."""
    return textwrap.fill(title, LETTERS * 9 // size // panels, break_on_hyphens=False)


def share_legend(figure) -> None:
    """Draw one legend above all panels, with each label once; the figure grows by the height of the legend."""
    handles: dict[str, object] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        columns = max(1, min(4, len(handles), IN_LEGEND // (max(map(len, handles)) + 6)))
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + ROW * -(-len(handles) // columns))
        figure.legend([*handles.values()], [*handles], loc="outside upper center", ncols=columns, fontsize=8)


def place_names(figure) -> None:
    """Place each point's name nearer to it than to others and clear of all other names; hide names without a place.

    It comes last: it lays the figure out, without room for names, which stay within their axes.
    """
    for name in (text for axes in figure.axes for text in axes.texts):
        name.set_in_layout(False)
    lay_out(figure)
    for axes in figure.axes:
        points = [axes.transData.transform(np.asarray(line.get_xydata(), float)) for line in axes.lines]
        marks = np.concatenate([*points, np.empty((0, 2))])
        kept: list[Bbox] = []
        for name in axes.texts:
            own = axes.transData.transform(name.xy)
            others = marks[np.hypot(*(marks - own).T) > 1]
            boxes = (_move(name, offset).padded(NEAR) for offset in OFFSETS)
            box = next((box for box in boxes if _is_clear(box, own, others, kept, axes.bbox)), None)
            name.set_visible(box is not None)
            kept += [box] if box else []


def _move(name, offset: tuple[float, float]) -> Bbox:
    name.set_position(offset)
    name.set_horizontalalignment("left" if offset[0] > 0 else "right")
    return name.get_window_extent()


def _is_clear(box: Bbox, own: np.ndarray, others: np.ndarray, kept: list[Bbox], inside: Bbox) -> bool:
    """Whether a name is nearest to its own point and touches no other name, no other point and not the edge."""
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    nearest = np.hypot(*(others - middle).T).min(initial=np.inf)
    apart = not any(box.overlaps(other) for other in kept) and not box.count_contains(others)
    return apart and nearest > np.hypot(*(own - middle)) and inside.x0 < box.x0 and box.x1 < inside.x1


def draw_points(axes, data: pd.DataFrame, x: str, colour: str) -> None:
    """Draw the values that stand in place of an interval as small dots, at the x of their mean."""
    for row in data.to_dict("records"):
        points = row.get("points")
        if isinstance(points, list):
            axes.plot([row[x]] * len(points), points, ".", color=colour, markersize=4, alpha=0.7)


def bars_of(data: pd.DataFrame, mean: str = "mean", low: str = "low", high: str = "high") -> list[pd.Series]:
    """Return how far an interval reaches below and above each mean, as `errorbar` takes it; 0 where there is none."""
    value, least, most = (data[column].astype(float) for column in (mean, low, high))
    return [(value - least).fillna(0), (most - value).fillna(0)]


def draw_curve(axes, data: pd.DataFrame, x: str, colour: str, label: str, **style) -> None:
    """Draw a line through the means, with its interval as a band, or the points of few seeds.

    Where the numbers say that learned spans are `unmoved`, the mark is hollow.
    """
    data = data.dropna(subset=["mean"]).sort_values(x)
    line = axes.plot(data[x], data["mean"], **{"marker": "o", "markersize": 4, "color": colour, "label": label} | style)
    band = None
    draw_points(axes, data, x, colour)
    banded = data.dropna(subset=["low", "high"])
    if len(banded):
        low, high = banded["low"].astype(float), banded["high"].astype(float)
        band = axes.fill_between(banded[x], low, high, color=colour, alpha=0.15, lw=0)
    shows([line, band], data.index)
    still = data[data["unmoved"].astype(bool)] if "unmoved" in data else data[:0]
    if len(still):
        axes.plot(still[x], still["mean"], "o", color=colour, markerfacecolor="white", markersize=6, label=STILL)


def pick_holding(runs: pd.DataFrame, fact: str) -> pd.DataFrame:
    """Pick the runs whose record has this fact."""
    return runs[pd.Series([isinstance(value, dict | list) for value in runs[fact]], index=runs.index, dtype=bool)]


def set_count_ticks(axis) -> None:
    """Write the ticks of an axis as 0.01, 20, 150k or 20M."""
    thousands = EngFormatter(sep="")
    axis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value) if value >= 1000 else f"{value:.4g}"))


def set_log(axis) -> None:
    """Make an axis logarithmic, once its data are drawn, with as few ticks as tell its range."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(log_locator(low, high))
    axis.set_minor_formatter(NullFormatter())
    set_count_ticks(axis)


def set_powers(axis, labels: dict[float, str]) -> None:
    """Give an axis a scale of powers of two, with these labels at these values alone."""
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=2)
    axis.set_ticks([*labels], [*labels.values()])
    axis.set_minor_locator(NullLocator())


def set_span_axis(axes, values) -> None:
    """Show S on a scale of powers of two; of more than four values name every second, the largest among them."""
    ticks = sorted(set(values))
    unnamed = ticks[-2::-2] if len(ticks) > 4 else []
    set_powers(axes.xaxis, {tick: "" if tick in unnamed else f"{tick:.0f}" for tick in ticks})
    axes.set_xlabel("span limit S")


def log_locator(low: float, high: float) -> LogLocator | MaxNLocator:
    """Find the coarsest locator with enough ticks between two values; on a short axis, nearly linear, a linear one."""
    for parts in PARTS:
        locator = LogLocator(subs=parts)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= TICKS:
            return locator
    return MaxNLocator(5, min_n_ticks=TICKS)
