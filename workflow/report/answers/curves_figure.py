"""The learning curves of all configurations in small multiples."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workflow.report.answers.lines import Line, drawn_axis, lines_of, panels
from workflow.report.figures.colours import GREY, INK, as_named, shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    DASHES,
    SMALL,
    draw_curve,
    draw_message,
    fold,
    label_ends,
    set_count_ticks,
    set_log,
    share_legend,
)
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_badge
from workflow.results.numbers import is_number
from workflow.results.statistics import FEWEST, POSITIVE, over_seeds

PART_OF_DEV = (
    "During training, a model may be evaluated on part of dev; tables may average its last "
    "checkpoints. So the last point can differ from the score in a table."
)
TOGETHER = 4  # up to so many configurations share a panel
WIDE = 4  # small panels in a row of the file
TITLE = 1.5  # inches of width of a title of a small panel
LINE = 0.15  # inches of a line of a title
START = 0.15  # the part of the updates that may be cut off on top
SPACE = 0.06  # left free above and below the rest, as a share of its height
PLACE = ["text", "variant", "colour", "S", "k"]
COLUMNS = [*PLACE, "line", "step", "mean", "low", "high", "runs"]


# --- the numbers -----------------------------------------------------------------------------


def data(runs: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, per point that is drawn: the loss on dev with its interval.

    It is the mean of the seeds that ended. Where they are few, each seed has a line of its own, and
    so have failed runs, as far as they got. line: `mean` or a digest. unit: of the task's curve.
    """
    points = _points(runs, f"dev_{unit}")
    rows = []
    for place, mine in points.groupby(PLACE, dropna=False, sort=False):
        names = _line_names(mine)
        for (name, step), seeds in mine.groupby([names, "step"], sort=False):
            shown = over_seeds(seeds["value"].tolist(), bounds=POSITIVE)
            row = dict(zip(PLACE, place, strict=True)) | {
                "line": name,
                "step": step,
                "mean": shown.value,
                "low": shown.low,
                "high": shown.high,
                "runs": name_runs(seeds, "value"),
            }
            rows.append(row)
    numbers = dict.fromkeys(("S", "k", "mean", "low", "high"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def _points(runs: pd.DataFrame, loss: str) -> pd.DataFrame:
    """Make a row for each point of each run that has a loss."""
    named = with_badge(as_named(runs))
    points = []
    for run in named.itertuples():
        place = [getattr(run, name) for name in PLACE]
        for point in run.curve:
            value = point.get(loss)
            if is_number(value):
                points.append([*place, run.digest, point["step"], value])
    columns = [*PLACE, "digest", "step", "value"]
    table = pd.DataFrame(points, columns=columns)
    return table.astype({"S": float, "k": float})


def _line_names(points: pd.DataFrame) -> pd.Series:
    """Name the line of each point of a configuration: `mean` of the seeds that ended, or a run."""
    digests = points["digest"]
    last_steps = points.groupby("digest")["step"].transform("max")
    has_ended = last_steps == points["step"].max()
    if digests[has_ended].nunique() < FEWEST:
        return digests
    return digests.mask(has_ended, "mean")


# --- the drawing -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """A panel with the rows of its corpus, which set its scale."""

    axes: Axes
    rows: pd.DataFrame


@dataclass(frozen=True)
class _Style:
    """Colour, kind of line and label of a curve."""

    color: str
    ls: str
    label: str


def draw(data: pd.DataFrame, title: str, scale: str) -> Figure:
    """Draw a panel for each corpus where variants are few, else for each line.

    There the first variant is dotted over each. scale: `log` or `linear`, of the loss.
    """
    if not len(data):
        return draw_message("no run has left a learning curve")
    is_few = len(data[["variant", "S", "k"]].drop_duplicates()) <= TOGETHER
    figure, drawn = _by_corpus(data) if is_few else _by_line(data)
    for panel in drawn:
        _scale(panel, scale, ticks=3 if is_few else 2)
        panel.axes.set_xlabel("updates")
        panel.axes.set_ylabel(f"dev {title}")
    share_legend(figure)
    if is_few:
        label_ends(figure)
    return figure


def _scale(panel: _Panel, scale: str, ticks: int) -> None:
    """Cut off the first steep part of the curves, which would leave no space for the rest."""
    axes = panel.axes
    steps = panel.rows["step"]
    is_shown = steps >= START * steps.max()
    shown = panel.rows.loc[is_shown, "mean"]
    low = shown.min()
    high = shown.max()
    # where there is one value, matplotlib leaves space around it
    if low < high and scale == "log":
        factor = (high / low) ** SPACE
        axes.set_ylim(low / factor, high * factor)
    elif low < high:
        space = SPACE * (high - low)
        axes.set_ylim(low - space, high + space)
    if scale == "log":
        set_log(axes.yaxis)
    else:
        locator = MaxNLocator(5, min_n_ticks=3)
        axes.yaxis.set_major_locator(locator)
        set_count_ticks(axes.yaxis)
    axes.locator_params(axis="x", nbins=ticks)
    set_count_ticks(axes.xaxis)


def _by_corpus(data: pd.DataFrame) -> tuple[Figure, list[_Panel]]:
    """Make a panel for each corpus."""
    corpora = list(data.groupby("text", sort=False))
    axis = drawn_axis(data)
    lines = lines_of(data, axis)
    figure, all_axes = panels(len(corpora), 2, 2.6)
    drawn = []
    for axes, (corpus, rows) in zip(all_axes, corpora, strict=True):
        for number, line in enumerate(lines):
            mine = line.rows(rows, axis)
            _plot_places(axes, line, mine, axis, number)
        axes.set_title(fold(corpus), parse_math=False)
        drawn.append(_Panel(axes, rows))
    return figure, drawn


def _plot_places(axes: Axes, line: Line, rows: pd.DataFrame, axis: str | None, number: int) -> None:
    """Draw a variant in its colour and kind of line; each place of a grid has its own kind."""
    places = list(rows.groupby(axis or "variant", dropna=False))
    if len(places) == 1:
        (_, runs) = places[0]
        style = _Style(line.colour, _dashes(number), line.name)
        _plot_runs(axes, runs, style)
        return
    for order, (place, runs) in enumerate(places):
        name = f"{line.name}, {axis} = {place:g}"
        style = _Style(line.colour, _dashes(order), name)
        _plot_runs(axes, runs, style)


def _dashes(order: int) -> str:
    return DASHES[order % len(DASHES)]


@dataclass(frozen=True)
class _SmallPanel:
    """One line on one corpus. title: folded to the width of the panel."""

    corpus: str
    title: str
    rows: pd.DataFrame


def _by_line(data: pd.DataFrame) -> tuple[Figure, list[_Panel]]:
    """Make a panel for each line on each corpus."""
    corpora = dict(iter(data.groupby("text", sort=False)))
    axis = drawn_axis(data)
    small = []
    for corpus, rows in corpora.items():
        for line in lines_of(data, axis):
            mine = line.rows(rows, axis)
            if not len(mine):
                continue
            title = fold(line.name, TITLE)
            if len(corpora) > 1:
                title = f"{title}\n{fold(corpus, TITLE)}"
            small.append(_SmallPanel(corpus, title, mine))
    folds = max(each.title.count("\n") for each in small)
    height = 2.3 + LINE * folds
    figure, all_axes = panels(len(small), WIDE, height, width=SMALL)
    styles = _styles(data, axis)
    first_axes = all_axes[0]
    for style in styles.values():
        # an empty line, so that the legend has the places in order
        first_axes.plot([], [], color=style.color, ls=style.ls, label=style.label)
    drawn = []
    for axes, each in zip(all_axes, small, strict=True):
        on_corpus = corpora[each.corpus]
        _plot_variant(axes, each.rows, on_corpus, axis, styles)
        axes.set_title(each.title, parse_math=False)
        drawn.append(_Panel(axes, on_corpus))
    return figure, drawn


def _styles(data: pd.DataFrame, axis: str | None) -> dict[float, _Style]:
    """Choose the style of each place on the grid."""
    if axis is None:
        return {}
    values = sorted(data[axis].dropna().unique())
    colours = shades(len(values))
    styles = {}
    for order, value in enumerate(values):
        label = f"{axis} = {value:g}"
        styles[value] = _Style(colours[order], _dashes(order), label)
    return styles


def _plot_variant(
    axes: Axes,
    rows: pd.DataFrame,
    on_corpus: pd.DataFrame,
    axis: str | None,
    styles: dict[float, _Style],
) -> None:
    """Draw one line, with the first variant dotted. on_corpus: all rows of its corpus."""
    own = _Style(INK, "-", "this variant")
    for place, runs in rows.groupby(axis or "variant", dropna=False):
        _plot_runs(axes, runs, styles.get(place, own))
    first = on_corpus["variant"].iloc[0]
    compared = on_corpus[on_corpus["variant"] == first]
    # a grid is compared by colour
    has_grid = axis is not None and compared[axis].nunique() > 1
    if rows["variant"].iloc[0] != first and not has_grid:
        _plot_runs(axes, compared, _Style(GREY, ":", first))


def _plot_runs(axes: Axes, runs: pd.DataFrame, style: _Style) -> None:
    """Draw the mean of the seeds with its interval, and the lines of single runs."""
    for (_, _, name), curve in runs.groupby(["S", "k", "line"], sort=False, dropna=False):
        if name == "mean":
            draw_curve(
                axes, curve, "step", style.color, style.label, marker="", ls=style.ls, lw=1.2
            )
            continue
        line = axes.plot(
            curve["step"],
            curve["mean"],
            lw=0.8,
            alpha=0.8,
            color=style.color,
            ls=style.ls,
            label=style.label,
        )
        shows(line, curve.index)
