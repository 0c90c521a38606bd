"""The figure of effect: each variant's score with its interval and seeds, or curves over S or k."""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.report.answers.effects import GRID, places
from workflow.report.answers.lines import (
    Line,
    drawn_axis,
    lines_of,
    name_score,
    panels,
    shift_places,
)
from workflow.report.figures.colours import GREY, as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    bars_of,
    draw_message,
    fold,
    label_ends,
    set_powers,
    share_legend,
)
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_badge
from workflow.results.registry import bounds_of
from workflow.results.runs_table import finished
from workflow.results.statistics import FEWEST, mean_interval

ROW = 0.24  # inches of a variant
FOLDED = 0.34  # inches of one whose name takes two lines
TITLE = 2.2  # inches of width of a title, to the right of the names
NAME = 18  # letters of a line of a name
ROWS = 4  # a panel is high enough for so many variants at least
SEED = 0.05  # of an octave, by which single seeds are to the right of their mean
MARGIN = 0.3  # of an octave, left and right of all marks
COLUMNS = ["text", "variant", "colour", "S", "k", "mean", "low", "high", "points", "runs"]
AXIS_TITLES = {"S": "span limit S", "k": "number of kept keys k"}


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each corpus, variant, S and k with a score.

    points: the scores of the seeds. Few seeds have no interval.
    """
    runs = as_named(runs)
    scored = with_badge(finished(runs, quantity))
    rows = []
    for text, group in scored.groupby("text", sort=False):
        for variant, S, k, members in places(group):
            points = members[quantity].astype(float).tolist()
            mean, low, high = mean_interval(points, bounds=bounds_of(quantity))
            has_interval = len(points) >= FEWEST
            row = {
                "text": text,
                "variant": variant,
                "colour": members["colour"].iloc[0],
                "S": S,
                "k": k,
                "mean": mean,
                "low": low if has_interval else None,
                "high": high if has_interval else None,
                "points": points,
                "runs": name_runs(members, quantity),
            }
            rows.append(row)
    numbers = dict.fromkeys(("S", "k", "mean", "low", "high"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def draw(data: pd.DataFrame, quantity: str, title: str) -> Figure:
    """Draw a panel for each corpus: curves where half of the variants are on a grid, else dots."""
    if not len(data):
        return draw_message("no run has ended well")
    axis = drawn_axis(data)
    score = name_score(quantity, title)
    on_grid = 0
    if axis:
        placed = data.loc[data[axis].notna(), "variant"]
        on_grid = placed.nunique()
    if 2 * on_grid >= data["variant"].nunique():
        return _draw_curves(data, axis, score)
    return _draw_dots(data, score)


def _draw_dots(data: pd.DataFrame, score: str) -> Figure:
    """Draw the variants one below the other, with the mean of the first as a line through all."""
    corpora = list(data.groupby("text", sort=False))
    row_height = ROW
    most = ROWS
    for _, rows in corpora:
        most = max(most, len(rows))
        if any("\n" in name for name in _names(rows)):
            row_height = FOLDED
    height = 0.8 + row_height * most
    figure, axes = panels(len(corpora), 2, height)
    for panel, (corpus, rows) in zip(axes, corpora, strict=True):
        first = rows["mean"].iloc[0]
        panel.axvline(first, color=GREY, lw=0.8, ls="--")
        for place, row in enumerate(rows.itertuples()):
            _draw_dot(panel, place, row)
        panel.set_yticks(range(len(rows)), _names(rows), parse_math=False)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
        panel.set_title(fold(corpus, TITLE), parse_math=False)
        panel.set_xlabel(fold(score, TITLE))
    return figure


def _draw_dot(panel: Axes, place: int, row) -> None:
    """Draw the mean, interval and seeds of one variant. row: of `data`."""
    heights = [place] * len(row.points)
    seeds = panel.plot(
        row.points,
        heights,
        "|",
        ms=9,
        mew=1,
        color=row.colour,
        alpha=0.7,
    )
    bar = None
    if not pd.isna(row.low):
        below = row.mean - row.low
        above = row.high - row.mean
        bar = [[below], [above]]
    mean = panel.errorbar(
        row.mean,
        place,
        xerr=bar,
        fmt="o",
        ms=5,
        lw=1.4,
        capsize=3,
        color=row.colour,
    )
    shows([mean, seeds], [row.Index])


def _names(rows: pd.DataFrame) -> list[str]:
    """List the names of the variants, with S and k where a variant has several rows."""
    names = []
    for row in rows.itertuples():
        same = rows[rows["variant"] == row.variant]
        parts = [row.variant]
        for axis in GRID:
            if same[axis].nunique() > 1:
                place = getattr(row, axis)
                parts.append(f"{axis} = {place:g}")
        name = ", ".join(parts)
        names.append(textwrap.fill(name, NAME, break_on_hyphens=False))
    return names


def _draw_curves(data: pd.DataFrame, axis: str, score: str) -> Figure:
    """Draw lines over the grid; a variant without a place on it is a broken line across."""
    corpora = list(data.groupby("text", sort=False))
    lines = lines_of(data, axis)
    placed = []
    for line in lines:
        if line.rows(data, axis)[axis].notna().any():
            placed.append(line)
    values = sorted(data[axis].dropna().unique())
    ticks = {value: f"{value:g}" for value in values}
    left = values[0] / 2**MARGIN
    right = values[-1] * 2**MARGIN
    figure, axes = panels(len(corpora), 2, 2.6)
    for panel, (corpus, rows) in zip(axes, corpora, strict=True):
        for line in lines:
            mine = line.rows(rows, axis)
            where = mine[axis]
            if line in placed:
                where = shift_places(where, placed.index(line), len(placed))
            _draw_line(panel, line, mine.assign(place=where))
        set_powers(panel.xaxis, ticks)
        panel.set_xlim(left, right)
        panel.set_xlabel(AXIS_TITLES[axis])
        panel.set_title(fold(corpus), parse_math=False)
        panel.set_ylabel(score)
    share_legend(figure)
    label_ends(figure)
    return figure


def _draw_line(panel: Axes, line: Line, rows: pd.DataFrame) -> None:
    """Draw one variant.

    rows: with their `place` on the axis, missing where they have none.
    """
    for row in rows[rows["place"].isna()].itertuples():
        _draw_across(panel, line, row)
    placed = rows.dropna(subset=["place"]).sort_values("place")
    if not len(placed):
        return
    means = panel.errorbar(
        placed["place"],
        placed["mean"],
        bars_of(placed),
        marker=line.mark,
        ms=5,
        capsize=3,
        lw=1.4,
        color=line.colour,
        label=line.name,
    )
    points = placed.explode("points")
    to_the_right = points["place"] * 2**SEED
    scores = points["points"].astype(float)
    seeds = panel.plot(to_the_right, scores, "_", ms=5, color=line.colour, alpha=0.8)
    shows([means, seeds], placed.index)


def _draw_across(panel: Axes, line: Line, row) -> None:
    """Draw a variant without a grid as a line across the panel, its interval as a band."""
    colour = line.colour
    across = panel.axhline(row.mean, color=colour, lw=1.4, ls="--", label=line.name)
    band = None
    if pd.notna(row.low):
        band = panel.axhspan(row.low, row.high, color=colour, alpha=0.15, lw=0)
    ends = [row.Index, row.Index]  # from the left to the right
    shows([across, band], ends)
