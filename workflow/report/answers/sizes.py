"""Models of several sizes: the score of each variant over what a character costs."""

import pandas as pd

from workflow.report.answers.lines import MARKS, name_score, panels
from workflow.report.figures.colours import as_named
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, fold, label_ends, set_log, share_legend
from workflow.report.tables.cells import name_runs
from workflow.results.datasets import with_badge
from workflow.results.registry import bounds_of
from workflow.results.statistics import FEWEST, mean_interval

COST = "macs_executed"
SHAPE = ["d_model", "layers", "steps"]
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
    *SHAPE,
    "seconds",
]
COLUMNS += ["runs"]


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row for each corpus, size and variant: its score with its interval; few seeds have
    none.

    runs: of one question, at all sizes. cost: executed MACs per character or subword.
    """
    rows = []
    runs = with_badge(as_named(runs))
    runs = runs[(runs["status"] == "ok") & runs[quantity].notna()]
    for (text, size, variant), mine in runs.groupby(["text", "size", "variant"], sort=False):
        values = mine[quantity].astype(float).tolist()
        mean, low, high = mean_interval(values, bounds=bounds_of(quantity))
        bounds = (low, high) if len(values) >= FEWEST else (None, None)
        place = (
            text,
            variant,
            mine["colour"].iloc[0],
            size,
            mine["parameters"].mean(),
            mine[COST].mean(),
        )
        shape = [mine[key].iloc[0] for key in SHAPE]
        rows.append(
            (
                *place,
                mean,
                *bounds,
                len(values),
                *shape,
                mine["seconds"].mean(),
                name_runs(mine, quantity),
            )
        )
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"low": float, "high": float})
    return table.sort_values(["text", "size"], kind="stable", ignore_index=True)


def draw(data: pd.DataFrame, quantity: str, title: str, of: str):
    """Draw for each corpus the scores over cost. of: what the cost is for."""
    texts = list(data.groupby("text", sort=False))
    figure, axes = panels(len(texts), 2, 2.8)
    for panel, (text, rows) in zip(axes, texts, strict=True):
        for number, (variant, mine) in enumerate(rows.groupby("variant", sort=False)):
            style = {
                "marker": MARKS[number % len(MARKS)],
                "color": mine["colour"].iloc[0],
                "label": variant,
            }
            _draw_line(panel, mine["cost"], mine, ("score", "low", "high"), style)
        _label(panel, f"MACs/{of} (less is better)", name_score(quantity, title), text)
    share_legend(figure)
    label_ends(figure)
    return figure


def _draw_line(
    panel, places: pd.Series, rows: pd.DataFrame, columns: tuple[str, str, str], style: dict
) -> None:
    bars = bars_of(rows, *columns)
    shows(
        panel.errorbar(
            places, rows[columns[0]].astype(float), bars, ms=5, lw=1.4, capsize=3, **style
        ),
        rows.index,
    )


def _label(panel, across: str, up: str, text: str) -> None:
    set_log(panel.xaxis)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.set_title(fold(text), parse_math=False)
