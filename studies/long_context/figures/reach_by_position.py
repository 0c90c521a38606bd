"""How far each method works beyond the training length, by position scheme: a panel a task."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from studies.long_context.tables._predictions import POSITIONS
from studies.long_context.tables._reach import REACH, is_solved
from workflow.report.answers.lines import panels
from workflow.report.figures.colours import GREY, as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, draw_message, share_legend
from workflow.report.tables.cells import pick, summarise
from workflow.results.censored import bound_of
from workflow.results.datasets import with_titles

READS = ("runs",)
LEADS = True
TITLE = "Reach of each method by position scheme"
CAPTION = (
    "Doublings of the training length up to which token accuracy stays at 90 %: mean with its "
    "95 % CI. ≥: some seed stays above 90 % at every tested length. ≤ 0: below 90 % already at "
    "the training length. Hollow: below 99 % there, so nothing is concluded."
)
NOTES = "Each variant is tuned on each task. The interval is over its own seeds."
HEIGHT = 3.0  # inches of a panel
DODGE = 0.16  # between the methods of a position scheme
COLUMNS = ["task", "position", "method", "colour", "mean", "low", "high", "bound", "solved", "runs"]


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question=POSITIONS)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each task, position scheme and method."""
    rows = []
    named = with_titles(as_named(used(runs)))
    for (task, variant), mine in named.groupby(["title", "variant"], sort=False):
        (summary,) = summarise(mine, ["title"], REACH).to_dict("records")
        method, position = variant.rsplit(", ", 1)  # labels such as "softmax, NAPE"
        about = {
            "task": task,
            "position": position,
            "method": method,
            "colour": mine["colour"].iloc[0],
            "bound": bound_of(mine, REACH),
            "solved": is_solved(mine),
        }
        rows.append(about | {key: summary[key] for key in ("mean", "low", "high", "runs")})
    return pd.DataFrame(rows, columns=COLUMNS)


def draw(data: pd.DataFrame):
    """Draw a panel for each task: position schemes side by side, in each a mark for each method."""
    if not len(data.dropna(subset=["mean"])):
        return draw_message("no variant has finished runs")
    schemes = list(data["position"].unique())
    methods = data.groupby("method", sort=False)["colour"].first()
    tasks = list(data.groupby("task", sort=False))
    figure, every = panels(len(tasks), 2, HEIGHT)
    for axes, (task, rows) in zip(every, tasks, strict=True):
        for number, (method, colour) in enumerate(methods.items()):
            offset = DODGE * (number - (len(methods) - 1) / 2)
            places = rows["position"].map(schemes.index) + offset
            mine = rows.assign(place=places)[rows["method"] == method]
            _draw_method(axes, mine.dropna(subset=["mean"]), colour)
            axes.plot([], [], "o", color=colour, label=method)
        axes.set_xticks(range(len(schemes)), schemes)
        axes.grid(axis="x", visible=False)
        axes.margins(y=0.1)
        axes.set_ylim(bottom=-0.2)
        axes.set_title(task, parse_math=False)
        axes.set_ylabel("doublings at 90 %")
    hollow = Line2D([], [], ls="", marker="o", color=GREY, markerfacecolor="white")
    hollow.set_label("not solved at 1×")
    every[0].add_line(hollow)
    share_legend(figure)
    return figure


def _draw_method(axes: Axes, rows: pd.DataFrame, colour: str) -> None:
    for row in rows.itertuples():
        bars = bars_of(rows.loc[[row.Index]], "mean", "low", "high")
        mark = axes.errorbar(
            row.place,
            row.mean,
            yerr=bars,
            fmt="o",
            ms=5.5,
            lw=1.4,
            capsize=3,
            color=colour,
            markerfacecolor=colour if row.solved else "white",
        )
        shows(mark, [row.Index])
        # above the interval: to the right it would cover the next method
        top = row.mean if pd.isna(row.high) else row.high
        look = {"ha": "center", "va": "bottom"}
        axes.annotate(row.bound, (row.place, top), (0, 4), textcoords="offset points", **look)
