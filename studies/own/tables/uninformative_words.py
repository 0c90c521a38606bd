"""Attention that keeps few keys beside readers of few words, on a text where half of the words say nothing."""

import pandas as pd

from studies.own.tables._attainable import BOUNDS, best_bpc, of_text, of_words, with_share, words_bpc
from workflow.report.figures.colours import as_named
from workflow.report.tables.cells import make_cell, make_table, measured, pick

READS = ("runs", "optimal_predictor")
TITLE = "Few keys beside few words"
CAPTION = (
    "Half of the words of this text are drawn whatever its topic, so a query could leave them out. 0 % of what can "
    "be gained is the best reader that sees its own word so far; what is worse lies below 0. 100 % is the best reader "
    "of all of the past. A reader of the last m words knows which words a topic governs and sees the last m of "
    "these. Where m is enough for that reader, m keys could be enough for a query: one for each word."
)
COLUMNS = [("test", "test_bpc", "bpc"), ("of what can be gained", "share", "%")]


def build(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    runs = as_named(pick(runs, question="uninformative_words"))
    optimal_predictor = of_text(optimal_predictor, runs)
    runs, cells = with_share(runs, optimal_predictor), []
    for (variant, k), mine in runs.groupby(["variant", "k"], sort=False, dropna=False):
        row = variant if pd.isna(k) else f"{variant}, k = {k:.0f}"
        cells += [
            measured(row, column, mine, quantity, unit=unit, bounds=BOUNDS.get(quantity))
            for column, quantity, unit in COLUMNS
        ]
    return make_table(cells + _readers(optimal_predictor))


def _readers(optimal_predictor: pd.DataFrame) -> list[dict]:
    if best_bpc(optimal_predictor) is None:
        return []
    readers = [("best reader, its word alone", words_bpc(optimal_predictor))]
    readers += [(f"best reader, {row.words} words", row.bpc) for row in of_words(optimal_predictor).itertuples()]
    readers.append(("best reader, all of the past", best_bpc(optimal_predictor)))
    rows = with_share(pd.DataFrame(readers, columns=["row", "test_bpc"]), optimal_predictor)
    return [
        make_cell(row["row"], column, row[quantity], unit, "analytic")
        for row in rows.to_dict("records")
        for column, quantity, unit in COLUMNS
    ]
