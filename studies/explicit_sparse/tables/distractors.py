"""BLEU of each attention variant by the number of distractor sentences."""

import pandas as pd

from workflow.report.figures.colours import as_named
from workflow.report.tables.cells import make_table, measured, pick
from workflow.tasks.translation import PLANTED

READS = ("runs",)
TITLE = "BLEU by number of distractor sentences"
CAPTION = (
    "Test BLEU with irrelevant sentences appended to each source; models are trained with up to 4 "
    "of them. Slope: change in BLEU per distractor sentence, fitted over all four numbers."
)


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = as_named(pick(runs, question="distractors"))
    cells = []
    for (variant, k), mine in runs.groupby(["variant", "k"], sort=False, dropna=False):
        row = variant if pd.isna(k) else f"{variant}, k = {k:.0f}"
        cells.append(measured(row, "none", mine, "test_bleu"))
        cells += [
            measured(row, f"{n} distractors", mine, f"test_bleu_planted_{n}") for n in PLANTED
        ]
        cells.append(measured(row, "slope", mine, "test_bleu_slope"))
    return make_table(cells)
