"""Token accuracy over test lengths, as trained and with controls, by task and method."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from studies.long_context.tables._controls import CONTROLS, controls_of
from studies.long_context.tables._reach import (
    ACCURACY,
    QUESTION,
    Method,
    compare_methods,
)
from workflow.report.answers.lines import panels
from workflow.report.figures.colours import COLOURS, GREY, INK
from workflow.report.figures.style import (
    SMALL,
    draw_curve,
    draw_message,
    fold,
    set_powers,
    share_legend,
)
from workflow.report.tables.cells import name_runs, pick
from workflow.results.conditions import AT, scores_over_condition
from workflow.results.runs_table import finished
from workflow.results.statistics import over_seeds
from workflow.tasks.symbols.metrics import SHARE

READS = ("runs",)
TITLE = "Dispersion or ranking?"
CAPTION = (
    "Token accuracy by test length, in multiples of the training length: as trained, with all "
    "weight on the highest score, and with sharper scores. What a control wins back was lost to "
    "dispersion. Grey: the control loses more than two points at 1×, or the method does not solve "
    "1×; nothing can be concluded."
)
NOTES = "Means over seeds with 95 % CI. Sharper: times the factor that is best on dev."
AS_TRAINED = "as trained"
NO_CONCLUSION = "no conclusion"
LINES = {AS_TRAINED: ACCURACY, **CONTROLS}
LOOKS = {
    AS_TRAINED: {"color": INK, "ls": "-"},
    "hard maximum": {"color": COLOURS["adaptive"], "ls": "--"},
    "sharper scores": {"color": COLOURS["fixed"], "ls": "-."},
}
COLUMNS = [
    "task",
    "variant",
    "line",
    AT,
    "mean",
    "low",
    "high",
    "points",
    "no_conclusion",
    "runs",
]
IN_A_ROW = 4
HEIGHT = 1.85  # inches
TITLE_LETTERS = 1.7  # inches of width of a title


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, question=QUESTION)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each task, method, line and test length."""
    rows = []
    for method in compare_methods(runs):
        rows += _rows(method)
    numbers = dict.fromkeys((AT, "mean", "low", "high"), float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def _rows(method: Method) -> Iterator[dict]:
    """Yield the rows of a method: means over its seeds."""
    runs = finished(method.runs)
    scored = scores_over_condition(runs, *LINES.values())
    why_not = {each.name: each.why_not for each in controls_of(runs, scored[AT].max())}
    for line, quantity in LINES.items():
        for multiple, seeds in scored.groupby(AT):
            values = seeds[quantity].dropna().astype(float)
            summary = over_seeds(values.tolist(), bounds=SHARE)
            yield {
                "task": method.task,
                "variant": method.name,
                "line": line,
                AT: multiple,
                "mean": summary.value,
                "low": summary.low,
                "high": summary.high,
                "points": summary.points,
                "no_conclusion": why_not.get(line) or None,
                "runs": name_runs(seeds, quantity),
            }


def draw(data: pd.DataFrame):
    """Draw a panel for each task and method."""
    if not len(data):
        return draw_message("no run with scores over length has ended well")
    groups = list(data.groupby(["task", "variant"], sort=False))
    figure, every = panels(len(groups), IN_A_ROW, HEIGHT, width=SMALL)
    for axes, ((task, variant), rows) in zip(every, groups, strict=True):
        for line, mine in rows.groupby("line", sort=False):
            _draw_line(axes, line, mine)
        set_powers(axes.xaxis, _name_multiples(data.loc[data["task"] == task, AT]))
        _set_shares(axes, data.loc[data["task"] == task, "mean"].min())
        axes.set_title(f"{task}\n{fold(variant, TITLE_LETTERS)}", parse_math=False)
    share_legend(figure)
    return figure


def _name_multiples(values: pd.Series) -> dict[float, str]:
    """Label the test lengths of a task, but for fractions."""
    return {each: f"{each:g}" if each.is_integer() else "" for each in sorted(values.unique())}


def _set_shares(axes: Axes, least: float) -> None:
    """Give all panels of a task one axis: from 0, or from 70 % where no score is lower."""
    low = 70 if least > 70 else 0
    axes.set_ylim(low - 0.03 * (100 - low), 100 + 0.03 * (100 - low))
    axes.set_yticks([low, (low + 100) // 2, 100])


def _draw_line(axes: Axes, line: str, rows: pd.DataFrame) -> None:
    look = LOOKS[line]
    if rows["no_conclusion"].notna().any():
        look = {"color": GREY, "ls": ":"}
        line = NO_CONCLUSION
    colour = look["color"]
    draw_curve(axes, rows, AT, colour, line, ls=look["ls"], marker=".", markersize=3, lw=1.2)
