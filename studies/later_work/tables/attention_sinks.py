"""Sparse attention and attention sinks when a head can attend to nothing."""

import pandas as pd

from workflow.report.tables.cells import make_table, measured, pick
from workflow.report.tables.paired import gain

READS = ("runs",)
TITLE = "Sparse attention when a head can attend to nothing"
CAPTION = (
    "Differences are paired by seed; positive means worse. Top-k and entmax-1.5 are compared with "
    "all keys in the same row; rows are compared with softmax."
)
TEST = ("test_bpc", "test_bpc")
SPARSE = ("top-k", "entmax-1.5")
ROWS = {  # variants: all keys, top-k, entmax-1.5
    "softmax": ("softmax", "top_k", "entmax15"),
    "off-by-one softmax": ("softmax_one", "top_k_one"),
    "attention sinks": ("sinks", "sinks_top_k", "sinks_entmax15"),
    "sigmoid": ("sigmoid",),
    "top-p": ("top_p",),
}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="attention_sinks")
    softmax = pick(runs, variant="softmax")
    cells = []
    for row, (whole, *sparse) in ROWS.items():
        all_keys = pick(runs, variant=whole)
        cells.append(measured(row, "all keys, test", all_keys, "test_bpc"))
        if whole != "softmax":
            cells.append(gain(row, "difference from softmax", all_keys, softmax, TEST))
        for name, variant in zip(SPARSE, sparse, strict=False):
            seeds = pick(runs, variant=variant)
            cells.append(gain(row, f"{name}, difference", seeds, all_keys, TEST))
    return make_table(cells)
