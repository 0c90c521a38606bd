"""The score over the condition that a task varies when it tests a model, such as the length."""

import pandas as pd
from matplotlib.figure import Figure

from workflow.report.answers.lines import Line, lines_of, name_score, panels
from workflow.report.figures.colours import as_named
from workflow.report.figures.style import DASHES, draw_curve, fold, set_powers, share_legend
from workflow.report.tables.cells import summarise
from workflow.results.conditions import AT, over_condition
from workflow.results.datasets import with_badge
from workflow.tasks.task import Condition

PLACE = ["text", "variant", "colour", "S", "k"]


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row per variant, place of its grid and value of the condition: the mean over seeds."""
    scored = over_condition(with_badge(as_named(runs)))
    if not len(scored):
        return pd.DataFrame()
    return summarise(scored, [*PLACE, AT], quantity)


def draw(data: pd.DataFrame, quantity: str, title: str, condition: Condition) -> Figure:
    """Draw a panel for each dataset, and in it a curve for each variant."""
    datasets = list(data.groupby("text", sort=False))
    lines = lines_of(data, axis="S")
    figure, every = panels(len(datasets), 2, 2.8)
    for axes, (dataset, rows) in zip(every, datasets, strict=True):
        for number, line in enumerate(lines):
            _draw_line(axes, line, rows, number)
        axes.set_title(fold(dataset), parse_math=False)
        axes.set_xlabel(fold(condition.title))
        axes.set_ylabel(name_score(quantity, title))
        if condition.scale == "log":
            values = sorted(data[AT].unique())
            set_powers(axes.xaxis, {value: f"{value:g}" for value in values})
    share_legend(figure)
    return figure


def _draw_line(axes, line: Line, rows: pd.DataFrame, number: int) -> None:
    mine = line.rows(rows, "S")
    dashes = DASHES[number % len(DASHES)]
    draw_curve(axes, mine, AT, line.colour, line.name, marker=line.mark, ls=dashes, lw=1.2)
