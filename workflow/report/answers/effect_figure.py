"""The figure of effect: each variant's score with its interval and its seeds, or curves over S or
k.
"""

import textwrap

import pandas as pd

from workflow.report.answers.effects import places
from workflow.report.answers.lines import (
    Line,
    aside,
    drawn_axis,
    lines_of,
    name_score,
    panels,
    texts_of,
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
from workflow.results.statistics import FEWEST, mean_interval

ROW, FOLDED = 0.24, 0.34  # inches of a variant; of one whose name takes two lines
TITLE = 2.2  # inches of width of a title, to the right of the names
NAME, ROWS = 18, 4  # letters of a line of a name; how many rows have room at least
# of an octave: single seeds to the right of their mean; room left and right of all
SEED, MARGIN = 0.05, 0.3
COLUMNS = ["text", "variant", "colour", "S", "k", "mean", "low", "high", "points", "runs"]


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row per text, variant, S and k with a score; points: those of the seeds. Few seeds
    have no interval.
    """
    runs, rows = as_named(runs), []
    for text, group in texts_of(
        with_badge(runs[(runs["status"] == "ok") & runs[quantity].notna()])
    ):
        for variant, S, k, members in places(group):
            points = members[quantity].astype(float).tolist()
            mean, low, high = mean_interval(points, bounds=bounds_of(quantity))
            bounds = (low, high) if len(points) >= FEWEST else (None, None)
            place = (text, variant, members["colour"].iloc[0], S, k)
            rows.append((*place, mean, *bounds, points, name_runs(members, quantity)))
    numbers = dict.fromkeys(("S", "k", "mean", "low", "high"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def draw(data: pd.DataFrame, quantity: str, title: str):
    """Draw a panel for each text: curves where half of the variants or more are on a grid, else
    dots.
    """
    if not len(data):
        return draw_message("no run has ended well")
    axis, score = drawn_axis(data), name_score(quantity, title)
    on_grid = data.loc[data[axis].notna(), "variant"].nunique() if axis else 0
    return (
        _draw_curves(data, axis, score)
        if 2 * on_grid >= data["variant"].nunique()
        else _draw_dots(data, score)
    )


def _draw_dots(data: pd.DataFrame, score: str):
    """Draw the variants one below the other, with the mean of the first as a line through all."""
    texts = dict(texts_of(data))
    names = {text: _names(rows) for text, rows in texts.items()}
    folded = any("\n" in name for of_text in names.values() for name in of_text)
    height = 0.8 + (FOLDED if folded else ROW) * max(ROWS, *map(len, texts.values()))
    figure, axes = panels(len(texts), 2, height)
    for panel, (text, rows) in zip(axes, texts.items(), strict=True):
        panel.axvline(rows["mean"].iloc[0], color=GREY, lw=0.8, ls="--")
        for place, row in enumerate(rows.itertuples()):
            colour = row.colour
            seeds = panel.plot(
                row.points, [place] * len(row.points), "|", ms=9, mew=1, color=colour, alpha=0.7
            )
            bar = None if pd.isna(row.low) else [[row.mean - row.low], [row.high - row.mean]]
            mean = panel.errorbar(
                row.mean, place, xerr=bar, fmt="o", ms=5, lw=1.4, capsize=3, color=colour
            )
            shows([mean, seeds], [row.Index])
        panel.set_yticks(range(len(rows)), names[text], parse_math=False)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.grid(axis="y", visible=False)
        panel.set_title(fold(text, TITLE), parse_math=False)
        panel.set_xlabel(score)
    return figure


def _names(rows: pd.DataFrame) -> list[str]:
    """List the names of the variants, with S and k where a variant stands there more than once."""
    names = []
    for row in rows.itertuples():
        same = rows[rows["variant"] == row.variant]
        places = [
            f"{axis} = {getattr(row, axis):g}" for axis in ("S", "k") if same[axis].nunique() > 1
        ]
        names.append(textwrap.fill(", ".join([row.variant, *places]), NAME, break_on_hyphens=False))
    return names


def _draw_curves(data: pd.DataFrame, axis: str, score: str):
    """Draw lines over the grid; a variant without a place on it is a broken line across."""
    texts, lines = dict(texts_of(data)), lines_of(data, axis)
    figure, axes = panels(len(texts), 2, 2.6)
    values = sorted(data[axis].dropna().unique())
    placed = [line for line in lines if line.rows(data, axis)[axis].notna().any()]
    for panel, (text, rows) in zip(axes, texts.items(), strict=True):
        for line in lines:
            mine = line.rows(rows, axis)
            beside = (
                aside(mine[axis], placed.index(line), len(placed)) if line in placed else mine[axis]
            )
            _draw_line(panel, line, mine.assign(place=beside))
        set_powers(panel.xaxis, {value: f"{value:g}" for value in values})
        panel.set_xlim(values[0] / 2**MARGIN, values[-1] * 2**MARGIN)
        panel.set_xlabel({"S": "span limit S", "k": "number of kept keys k"}[axis])
        panel.set_title(fold(text), parse_math=False)
        panel.set_ylabel(score)
    share_legend(figure)
    label_ends(figure)
    return figure


def _draw_line(panel, line: Line, rows: pd.DataFrame) -> None:
    """Draw one variant. rows: with their `place` on the axis, missing where they have none."""
    for row in rows[rows["place"].isna()].itertuples():
        across = panel.axhline(row.mean, color=line.colour, lw=1.4, ls="--", label=line.name)
        band = (
            panel.axhspan(row.low, row.high, color=line.colour, alpha=0.15, lw=0)
            if pd.notna(row.low)
            else None
        )
        shows([across, band], [row.Index] * 2)  # from the left to the right
    placed = rows.dropna(subset=["place"]).sort_values("place")
    if not len(placed):
        return
    bars = bars_of(placed)
    style = {
        "marker": line.mark,
        "ms": 5,
        "capsize": 3,
        "lw": 1.4,
        "color": line.colour,
        "label": line.name,
    }
    means = panel.errorbar(placed["place"], placed["mean"], bars, **style)
    points = placed.explode("points")
    beside, seeds = points["place"] * 2**SEED, points["points"].astype(float)
    shows([means, panel.plot(beside, seeds, "_", ms=5, color=line.colour, alpha=0.8)], placed.index)
