"""Give all figures one look: text stays text and has one size, and a panel is as wide as a
phone.
"""

import io
import textwrap
from collections.abc import Iterable

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.cbook import flatten
from matplotlib.figure import Figure
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
from workflow.report.figures.panels import POINTS, name_parts
from workflow.results.numbers import MINUS, number

SIZE = 9  # points of all text in a figure, shown in its own size: 12 pixels on a page
WIDTH = 3.6  # inches of a panel: 346 pixels, what the narrowest phones leave between their margins
SMALL = 1.75  # inches of a panel of which a phone shows two side by side
LETTERS = 12  # that fit side by side in an inch
ROW = 0.22  # inches of height of a row of a legend
OFFSETS = (5, 4), (5, -10), (-5, 4), (-5, -10)  # of names from their points, in typographic points
STILL = "barely moved"  # a learned span
END = "end"  # the id of names at the ends of lines
MESSAGE = "message"  # the id of the words that stand in place of a figure
NEAR = 3  # pixels between a name and what it must not touch
IN_PLACE = 14  # letters of a name that has room beside its line
HIGH = 0.6  # of a panel that its axes cover, about
# points: between two names at the ends of lines; from a name to the end of its line at most
LINE, FAR = 10.5, 12.0
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
    **dict.fromkeys(
        ("axes.titlesize", "axes.labelsize", "legend.fontsize", "legend.title_fontsize"), SIZE
    ),
    **dict.fromkeys(
        ("xtick.labelsize", "ytick.labelsize", "figure.titlesize", "figure.labelsize"), SIZE
    ),
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


def canvas(columns: int = 1, width: float = WIDTH, height: float = 2.6, rows: int = 1, **options):
    """Make a figure and its axes, `width` x `height` inches a panel."""
    matplotlib.rcdefaults()  # whatever a matplotlibrc says
    matplotlib.rcParams.update(STYLE)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def lay_out(figure) -> None:
    """Lay out a figure once: with an engine, even "none", savefig draws the whole figure twice in
    every format.
    """
    write_plain_ticks(figure.axes)
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        if not axis.get_label_text():
            # else all numbers on the axis are measured, to place a label that is not there
            axis.set_label_coords(0, 0)
    if engine := figure.get_layout_engine():
        engine.execute(figure)
        figure.set_layout_engine(None)
        name_parts(figure)


class PlainTicks(Formatter):
    """Writes as plain numbers the ticks that a formatter labels in markup for maths, which is off
    for all text here.
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
    """Replace the labels of ticks that matplotlib writes in markup for maths: of logarithmic axes
    of any kind.

    every: axes; those inside them, and second scales, are axes too.
    """
    for axes in every:
        write_plain_ticks(axes.child_axes)
        for axis in (axes.xaxis, axes.yaxis):
            for ticks, put in (
                (axis.major, axis.set_major_formatter),
                (axis.minor, axis.set_minor_formatter),
            ):
                if isinstance(ticks.formatter, LogFormatterMathtext | LogitFormatter):
                    put(PlainTicks(ticks.formatter))
                elif isinstance(ticks.formatter, ScalarFormatter):
                    ticks.formatter.set_useMathText(False)


def as_svg(figure) -> str:
    """Lay out a figure and return it as SVG, without a date, so that the same figure is the same
    text.
    """
    lay_out(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def draw_message(message: str):
    """Draw a message in the files of a figure whose runs are missing or failed; pages leave such a
    figure out.
    """
    figure, axes = canvas()
    axes.axis("off")
    axes.text(0.5, 0.5, message, ha="center", va="center", color=GREY, wrap=True, gid=MESSAGE)
    return figure


def fold(title: str, width: float = WIDTH) -> str:
    """Fold a title into lines as wide as a panel of `width` inches."""
    return textwrap.fill(title, int(LETTERS * width), break_on_hyphens=False)


def share_legend(figure) -> None:
    """Draw one legend above all panels, with each label once; the figure grows by the height of the
    legend.
    """
    handles: dict[str, object] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        width, height = figure.get_size_inches()
        columns = max(1, min(len(handles), int(LETTERS * width) // (max(map(len, handles)) + 7)))
        figure.set_size_inches(width, height + ROW * -(-len(handles) // columns))
        figure.legend([*handles.values()], [*handles], loc="outside upper center", ncols=columns)


def label_ends(figure) -> None:
    """Write the name of each line at its right end too, in panels where names are short and none
    touches another.

    It comes last: limits and scales of the axes are fixed, and only their height can still change a
    little.
    """
    for axes in figure.axes:
        ends = _ends_of(axes)
        names = [name for name, _ in ends]
        if len(names) < 2 or max(map(len, names)) > IN_PLACE:
            continue
        height = HIGH * POINTS * figure.get_size_inches()[1] / axes.get_gridspec().nrows
        inside = axes.transAxes.inverted()
        heights = [inside.transform(axes.transData.transform(end))[1] * height for _, end in ends]
        moved = _move_apart(heights)
        if max(abs(new - old) for new, old in zip(moved, heights, strict=True)) > FAR:
            continue
        for (name, end), new, old in zip(ends, moved, heights, strict=True):
            style = {
                "textcoords": "offset points",
                "va": "center",
                "annotation_clip": False,
                "gid": END,
            }
            axes.annotate(name, end, (6, new - old), **style)


def _ends_of(axes) -> list[tuple[str, tuple[float, float]]]:
    """List the named lines of some length with the place of their last point that is drawn."""
    ends = []
    for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
        line = next((part for part in flatten([handle]) if isinstance(part, Line2D)), None)
        if line is None or line.get_linestyle() in ("None", "none", "", " ") or name == STILL:
            continue
        points = np.asarray(line.get_xydata(), float)
        points = points[np.isfinite(points).all(1)]
        # not a level from edge to edge
        if len(points) > 1 and line.get_transform() == axes.transData:
            ends.append((name, tuple(points[points[:, 0].argmax()])))
    return ends


def _move_apart(heights: list[float]) -> list[float]:
    """Move places up until each is a line of text above the one below, then all down by the mean of
    that.
    """
    moved, least = dict(enumerate(heights)), -np.inf
    for place in sorted(moved, key=moved.get):
        moved[place] = max(moved[place], least)
        least = moved[place] + LINE
    down = float(np.mean([moved[place] - old for place, old in enumerate(heights)]))
    return [moved[place] - down for place in range(len(heights))]


def place_names(figure) -> None:
    """Place each point's name nearer to it than to others and clear of all other names; hide names
    without a place.

    It comes last: it lays the figure out, without room for names, which stay within their axes.
    """
    for name in (text for axes in figure.axes for text in axes.texts):
        name.set_in_layout(False)
    lay_out(figure)
    for axes in figure.axes:
        points = [
            axes.transData.transform(np.asarray(line.get_xydata(), float)) for line in axes.lines
        ]
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


def _is_clear(
    box: Bbox, own: np.ndarray, others: np.ndarray, kept: list[Bbox], inside: Bbox
) -> bool:
    """Whether a name is nearest to its own point and touches no other name, no other point and not
    the edge.
    """
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    nearest = np.hypot(*(others - middle).T).min(initial=np.inf)
    apart = not any(box.overlaps(other) for other in kept) and not box.count_contains(others)
    return (
        apart and nearest > np.hypot(*(own - middle)) and inside.x0 < box.x0 and box.x1 < inside.x1
    )


def draw_points(axes, data: pd.DataFrame, x: str, colour: str) -> None:
    """Draw the values that stand in place of an interval as small dots, at the x of their mean."""
    for row in data.to_dict("records"):
        points = row.get("points")
        if isinstance(points, list):
            axes.plot([row[x]] * len(points), points, ".", color=colour, markersize=4, alpha=0.7)


def bars_of(
    data: pd.DataFrame, mean: str = "mean", low: str = "low", high: str = "high"
) -> list[pd.Series]:
    """Return how far an interval reaches below and above each mean, as `errorbar` takes it; 0 where
    there is none.
    """
    value, least, most = (data[column].astype(float) for column in (mean, low, high))
    return [(value - least).fillna(0), (most - value).fillna(0)]


def draw_curve(axes, data: pd.DataFrame, x: str, colour: str, label: str, **style) -> None:
    """Draw a line through the means, with its interval as a band, or the points of few seeds.

    Where the numbers say that learned spans are `unmoved`, the mark is hollow.
    """
    data = data.dropna(subset=["mean"]).sort_values(x)
    line = axes.plot(
        data[x],
        data["mean"],
        **{"marker": "o", "markersize": 4, "color": colour, "label": label} | style,
    )
    band = None
    draw_points(axes, data, x, colour)
    banded = data.dropna(subset=["low", "high"])
    if len(banded):
        low, high = banded["low"].astype(float), banded["high"].astype(float)
        band = axes.fill_between(banded[x], low, high, color=colour, alpha=0.15, lw=0)
    shows([line, band], data.index)
    still = data[data["unmoved"].astype(bool)] if "unmoved" in data else data[:0]
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
    return runs[
        pd.Series(
            [isinstance(value, dict | list) for value in runs[fact]], index=runs.index, dtype=bool
        )
    ]


def set_count_ticks(axis) -> None:
    """Write the ticks of an axis as 0.01, 20, 150k or 20M."""
    thousands = EngFormatter(sep="")
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: thousands(value) if value >= 1000 else f"{value:.4g}")
    )


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
    """Show S on a scale of powers of two; of more than four values name every second, the largest
    among them.
    """
    ticks = sorted(set(values))
    unnamed = ticks[-2::-2] if len(ticks) > 4 else []
    set_powers(axes.xaxis, {tick: "" if tick in unnamed else f"{tick:.0f}" for tick in ticks})
    axes.set_xlabel("span limit S")


def log_locator(low: float, high: float) -> LogLocator | MaxNLocator:
    """Find the coarsest locator with enough ticks between two values; on a short axis, nearly
    linear, a linear one.
    """
    for parts in PARTS:
        locator = LogLocator(subs=parts)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= TICKS:
            return locator
    return MaxNLocator(5, min_n_ticks=TICKS)
