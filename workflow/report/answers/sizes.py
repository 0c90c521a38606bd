"""Models of several sizes: the score of each variant over what a character costs."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.report.answers.lines import MARKS, name_score, panels
from workflow.report.figures.colours import as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, fold, label_ends, set_log, share_legend
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_badge
from workflow.results.registry import bounds_of
from workflow.results.runs_table import finished
from workflow.results.statistics import FEWEST, mean_interval

COST = "macs_executed"
COLUMNS = [
    "text",
    "variant",
    "colour",
    "size",
    "parameters",
    "cost",
    "score",
    "low",
    "high",
    "n",
    "d_model",
    "layers",
    "steps",
    "seconds",
    "runs",
]


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row, with `COLUMNS`, for each corpus, size and variant; few seeds have no interval.

    runs: of one question, at all sizes. cost: executed MACs per character or subword.
    """
    runs = with_badge(as_named(runs))
    by_model = finished(runs, quantity).groupby(["text", "size", "variant"], sort=False)
    rows = []
    for (text, size, variant), mine in by_model:
        values = mine[quantity].astype(float).tolist()
        mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
        has_interval = len(values) >= FEWEST
        row = {
            "text": text,
            "variant": variant,
            "colour": mine["colour"].iloc[0],
            "size": size,
            "parameters": mine["parameters"].mean(),
            "cost": mine[COST].mean(),
            "score": mean,
            "low": low if has_interval else None,
            "high": high if has_interval else None,
            "n": len(values),
            "d_model": mine["d_model"].iloc[0],
            "layers": mine["layers"].iloc[0],
            "steps": mine["steps"].iloc[0],
            "seconds": mine["seconds"].mean(),
            "runs": name_runs(mine, quantity),
        }
        rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"low": float, "high": float})
    return table.sort_values(["text", "size"], kind="stable", ignore_index=True)


def draw(data: pd.DataFrame, quantity: str, title: str, of: str) -> Figure:
    """Draw for each corpus the scores over cost. of: what the cost is for."""
    corpora = list(data.groupby("text", sort=False))
    figure, axes = panels(len(corpora), 2, 2.8)
    for panel, (corpus, rows) in zip(axes, corpora, strict=True):
        variants = rows.groupby("variant", sort=False)
        for number, (variant, mine) in enumerate(variants):
            mark = MARKS[number % len(MARKS)]
            _draw_variant(panel, variant, mine, mark)
        set_log(panel.xaxis)
        panel.set_xlabel(f"MACs/{of} (less is better)")
        panel.set_ylabel(name_score(quantity, title))
        panel.set_title(fold(corpus), parse_math=False)
    share_legend(figure)
    label_ends(figure)
    return figure


def _draw_variant(panel: Axes, variant: str, rows: pd.DataFrame, mark: str) -> None:
    line = panel.errorbar(
        rows["cost"],
        rows["score"].astype(float),
        bars_of(rows, "score", "low", "high"),
        marker=mark,
        color=rows["colour"].iloc[0],
        label=variant,
        ms=5,
        lw=1.4,
        capsize=3,
    )
    shows(line, rows.index)
