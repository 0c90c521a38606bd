"""Every span compared with the best possible prediction of a text: its share of the attainable gain, and its cost."""

import pandas as pd

from studies.own.tables._attainable import BOUNDS, best_bpc, of_text, windows, with_share, words_bpc
from workflow.report.tables.cells import make_cell, make_table, measured, pick, ratio
from workflow.report.tables.paired import gain

READS = ("runs", "optimal_predictor")
TITLE = "Spans beside the best possible reader"
CAPTION = (
    "A text drawn from topics whose probabilities are known, so the fewest bits per character that any reader can "
    "reach are computed, not estimated: of all of the past, and of the last w characters alone. 0 % of what can be "
    "gained is the best reader that sees its word so far and nothing before it, 100 % is the best reader of all of the "
    "past; one that sees more characters than are listed is as good. Nets are scored on the same stretch of test text. "
    "Differences to fixed spans are of the same S and seed."
)
FIXED = "fixed"  # what the other spans are compared with
COLUMNS = [
    ("test", "test_bpc", "bpc"),
    ("above the best reader", "above_best", "bpc"),
    ("of what can be gained", "share", "%"),
    ("avg. span", "mean_span", "characters"),
    ("longest span", "max_span", "characters"),
    ("executed", "macs_executed", "multiply-adds / character"),
]


def build(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="known_entropy")
    optimal_predictor = of_text(optimal_predictor, runs)
    runs, cells = with_share(runs, optimal_predictor), []
    for variant, S in runs[["variant", "S"]].drop_duplicates().itertuples(index=False):
        seeds = runs[(runs["variant"] == variant) & (runs["S"] == S)]
        label = f"{variant}, S = {S:.0f}"
        row = [
            measured(label, column, seeds, quantity, unit=unit, bounds=BOUNDS.get(quantity))
            for column, quantity, unit in COLUMNS
        ]
        if variant != FIXED:
            fixed = pick(runs, variant=FIXED, S=S)
            row.insert(3, gain(label, "difference to fixed", seeds, fixed, ("test_bpc", "test_bpc")))
            row.append(ratio(label, "executed, to fixed", "macs_executed", seeds, fixed, FIXED))
        cells += row
    return make_table(cells + _readers(optimal_predictor))


def _readers(optimal_predictor: pd.DataFrame) -> list[dict]:
    """Return the cells of the best readers, a row for each; what they reach follows from the text."""
    if best_bpc(optimal_predictor) is None:
        return []
    readers = [("best reader, its word alone", words_bpc(optimal_predictor))]
    whole, seen = best_bpc(optimal_predictor), windows(optimal_predictor)
    less = seen[(seen["bpc"] > whole).cummin()]  # the windows before the first one as good as all of the past
    readers += [(f"best reader, {row.window} characters", row.bpc) for row in less.itertuples()]
    readers.append(("best reader, all of the past", whole))
    rows = with_share(pd.DataFrame(readers, columns=["row", "test_bpc"]), optimal_predictor)
    return [
        make_cell(row["row"], column, row[quantity], unit, "analytic")
        for row in rows.to_dict("records")
        for column, quantity, unit in COLUMNS[:3]
    ]
