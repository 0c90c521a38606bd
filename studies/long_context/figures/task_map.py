"""Where a method works farther beyond the training length than softmax: a panel for each task."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from studies.long_context.tables._reach import QUESTION, REACH, Method, compare_methods
from workflow.report.answers.lines import panels
from workflow.report.figures.colours import GREY
from workflow.report.figures.marks import shows
from workflow.report.figures.style import draw_message, share_legend
from workflow.report.tables.cells import name_runs, pick
from workflow.results.censored import bound_of
from workflow.results.runs_table import finished

READS = ("runs",)
LEADS = True
TITLE = "Reach of each method compared with softmax, by task"
CAPTION = (
    "Doublings of the training length up to which token accuracy stays at 90 %: difference from "
    "softmax with its 95 % CI. An asterisk: significant after Holm correction over all tasks and "
    "methods. ≥ or ≤: some seed is censored, so the difference is a bound (≈: not even "
    "that). Hollow: the method or softmax is below 99 % at the training length, so nothing is "
    "concluded."
)
NOTES = (
    "Each variant is tuned on each task. The seed is the unit of analysis. The standard deviation "
    "is pooled over the methods that solve a task; where many of them are censored, it is "
    "underestimated."
)
HEAD = 1.3  # inches of a panel without its methods: titles and ticks
ROW = 0.24  # of a method
FEWEST_ROWS = 4  # a panel is high enough for so many methods at least
COLUMNS = [
    "task",
    "variant",
    "colour",
    "kind",
    "mean",
    "low",
    "high",
    "p",
    "bound",
    "concluded",
    "conclusion",
    "base_reach",
    "base_bound",
    "runs",
    "baseline_runs",
]
MARKS = {"sparse": "o", "dense": "s"}
SIGNIFICANT = "*"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question=QUESTION)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each task and method that is compared with softmax."""
    rows = []
    for method in compare_methods(runs):
        if method.difference:
            rows.append(_row(method))
    numbers = dict.fromkeys(("mean", "low", "high", "p"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def _row(method: Method) -> dict:
    ours = finished(method.runs, REACH)
    theirs = finished(method.baseline, REACH)
    significant = "significant" if method.is_significant else "not significant"
    return {
        "task": method.task,
        "variant": method.name,
        "colour": method.colour,
        "kind": "sparse" if method.is_sparse else "dense",
        "mean": method.difference.mean,
        "low": method.difference.low,
        "high": method.difference.high,
        "p": method.p,
        "bound": method.bound_of_difference,
        "concluded": not method.unsolved,
        "conclusion": method.unsolved or significant,
        "base_reach": theirs[REACH].mean(),
        "base_bound": bound_of(method.baseline, REACH),
        "runs": name_runs(ours, REACH),
        "baseline_runs": name_runs(theirs, REACH),
    }


def draw(data: pd.DataFrame):
    """Draw a panel for each task, in it a row for each method, around the line of softmax."""
    if not len(data):
        return draw_message("no method has finished runs to compare with softmax")
    tasks = list(data.groupby("task", sort=False))
    most = max(FEWEST_ROWS, *(len(rows) for _, rows in tasks))
    figure, every = panels(len(tasks), 2, HEAD + ROW * most, sharex=True)
    for axes, (task, rows) in zip(every, tasks, strict=True):
        axes.axvline(0, color=GREY, lw=0.8, ls="--")
        for place, row in enumerate(rows.itertuples()):
            _draw_method(axes, place, row)
        axes.set_yticks(range(len(rows)), rows["variant"], parse_math=False)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.tick_params(labelbottom=True)
        axes.set_title(_title(task, rows), parse_math=False)
        axes.set_xlabel("doublings more than softmax")
    if not data[["mean", "low", "high"]].any(axis=None):
        # all equal: no axis could be found
        every[0].set_xlim(-1, 1)
    _add_kinds(every[0])
    share_legend(figure)
    return figure


def _title(task: str, rows: pd.DataFrame) -> str:
    """Name a task, and below it what softmax reaches there."""
    first = rows.iloc[0]
    base = f"{first['base_bound']} {first['base_reach']:.2f}".strip()
    return f"{task}\n(softmax: {base} doublings)"


def _draw_method(axes: Axes, place: int, row) -> None:
    """Draw the difference of one method. row: of `data`."""
    bar = None
    if not pd.isna(row.low):
        bar = [[row.mean - row.low], [row.high - row.mean]]
    mark = axes.errorbar(
        row.mean,
        place,
        xerr=bar,
        fmt=MARKS[row.kind],
        ms=5.5,
        lw=1.4,
        capsize=3,
        color=row.colour,
        markerfacecolor=row.colour if row.concluded else "white",
    )
    shows(mark, [row.Index])
    signs = [row.bound]
    if row.conclusion == "significant":
        signs.append(SIGNIFICANT)
    # right of the panel, where no interval is
    axes.annotate(
        " ".join(signs).strip(),
        (1.0, place),
        (3, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
    )


def _add_kinds(axes: Axes) -> None:
    """Add what the marks mean to the legend."""
    for kind, mark in MARKS.items():
        handle = Line2D([], [], ls="", marker=mark, color=GREY, label=kind)
        axes.add_line(handle)
    hollow = Line2D([], [], ls="", marker="o", color=GREY, markerfacecolor="white")
    hollow.set_label("not solved at 1×")
    axes.add_line(hollow)
