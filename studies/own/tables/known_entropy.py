"""Every span compared with the optimal predictor: share of achievable improvement, and cost."""

import pandas as pd

from studies.own.tables._attainable import BOUNDS, best_bpc, of_text, windows, with_share, words_bpc
from workflow.report.tables.cells import Cell, analytic, make_table, measured, pick, ratio
from workflow.report.tables.paired import gain

READS = ("runs", "optimal_predictor")
TITLE = "Spans compared with the optimal predictor"
CAPTION = (
    "The corpus is sampled from topics with known probabilities, so we compute the bpc of the "
    "Bayes-optimal predictor exactly: given the full context (the entropy of the source), and "
    "given the last w characters. Share of the achievable improvement: 0 % is the optimal "
    "predictor given the current word only, 100 % the optimal predictor given the full context; "
    "windows longer than those listed reach 100 %. Models are scored on the same part of the test "
    "set. Differences from fixed spans are at the same S, paired by seed."
)
FIXED = "fixed"  # what the other spans are compared with
COLUMNS = [
    ("test", "test_bpc", "bpc"),
    ("above the optimal predictor", "above_best", "bpc"),
    ("share of the achievable improvement", "share", "%"),
    ("avg. span", "mean_span", "characters"),
    ("longest span", "max_span", "characters"),
    ("MACs, executed", "macs_executed", "MACs/character"),
]


def build(runs: pd.DataFrame, optimal_predictor: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="known_entropy")
    optimal_predictor = of_text(optimal_predictor, runs)
    runs = with_share(runs, optimal_predictor)
    cells = []
    for variant, S in runs[["variant", "S"]].drop_duplicates().itertuples(index=False):
        seeds = runs[(runs["variant"] == variant) & (runs["S"] == S)]
        label = f"{variant}, S = {S:.0f}"
        row = [
            measured(label, column, seeds, quantity, unit=unit, bounds=BOUNDS.get(quantity))
            for column, quantity, unit in COLUMNS
        ]
        if variant != FIXED:
            fixed = pick(runs, variant=FIXED, S=S)
            difference = gain(
                label, "difference from fixed", seeds, fixed, ("test_bpc", "test_bpc")
            )
            row.insert(3, difference)
            row.append(ratio(label, "executed, to fixed", "macs_executed", seeds, fixed, FIXED))
        cells += row
    return make_table(cells + _readers(optimal_predictor))


def _readers(optimal_predictor: pd.DataFrame) -> list[Cell]:
    """Return the cells of the optimal predictors, a row for each context."""
    if best_bpc(optimal_predictor) is None:
        return []
    readers = [("optimal predictor, current word", words_bpc(optimal_predictor))]
    whole = best_bpc(optimal_predictor)
    seen = windows(optimal_predictor)
    # the windows before the first one as good as all of the past
    less = seen[(seen["bpc"] > whole).cummin()]
    readers += [
        (f"optimal predictor, {row.window} characters", row.bpc) for row in less.itertuples()
    ]
    readers.append(("optimal predictor, full context", whole))
    rows = with_share(pd.DataFrame(readers, columns=["row", "test_bpc"]), optimal_predictor)
    return [
        analytic(row["row"], column, row[quantity], unit)
        for row in rows.to_dict("records")
        for column, quantity, unit in COLUMNS[:3]
    ]
