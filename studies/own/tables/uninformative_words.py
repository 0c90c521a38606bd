"""Sparse attention compared with optimal predictors, where half of the words are uninformative."""

import pandas as pd

from studies.own.tables._attainable import (
    BOUNDS,
    best_bpc,
    of_text,
    of_words,
    with_share,
    words_bpc,
)
from workflow.report.figures.colours import as_named
from workflow.report.tables.cells import Cell, analytic, make_table, measured, pick

READS = ("runs", "optimal_predictor")
TITLE = "Sparse attention compared with optimal predictors"
CAPTION = (
    "Half of the words of this corpus are independent of the topic, so a query could ignore them. "
    "Share of the achievable improvement: 0 % is the optimal predictor given the current word only "
    "(worse models are below 0), 100 % the optimal predictor given the full context. The optimal "
    "predictor given m words sees the last m informative words. If m words suffice for it, m keys "
    "could suffice for a query: one per word."
)
COLUMNS = [("test", "test_bpc", "bpc"), ("share of the achievable improvement", "share", "%")]


def build(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    runs = as_named(pick(runs, question="uninformative_words"))
    optimal_predictor = of_text(optimal_predictor, runs)
    runs = with_share(runs, optimal_predictor)
    cells = []
    for (variant, k), mine in runs.groupby(["variant", "k"], sort=False, dropna=False):
        row = variant if pd.isna(k) else f"{variant}, k = {k:.0f}"
        cells += [
            measured(row, column, mine, quantity, unit=unit, bounds=BOUNDS.get(quantity))
            for column, quantity, unit in COLUMNS
        ]
    return make_table(cells + _readers(optimal_predictor))


def _readers(optimal_predictor: pd.DataFrame) -> list[Cell]:
    if best_bpc(optimal_predictor) is None:
        return []
    readers = [("optimal predictor, current word", words_bpc(optimal_predictor))]
    readers += [
        (f"optimal predictor, {row.words} words", row.bpc)
        for row in of_words(optimal_predictor).itertuples()
    ]
    readers.append(("optimal predictor, full context", best_bpc(optimal_predictor)))
    rows = with_share(pd.DataFrame(readers, columns=["row", "test_bpc"]), optimal_predictor)
    return [
        analytic(row["row"], column, row[quantity], unit)
        for row in rows.to_dict("records")
        for column, quantity, unit in COLUMNS
    ]
