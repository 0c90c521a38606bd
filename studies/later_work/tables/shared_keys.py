"""Adaptive spans compared with fixed spans, by number of KV heads."""

import pandas as pd

from studies.later_work.tables._pairs import compare_with_fixed
from workflow.report.tables.cells import make_table, pick

READS = ("runs",)
TITLE = "Adaptive and fixed spans by number of KV heads"
CAPTION = (
    "Query heads share the number of KV heads given by the row (GQA; MQA with one). Differences "
    "are paired by seed at the same S; negative means that the adaptive span is better."
)
HEADS = {
    "one KV head per query head": ("own", "adaptive_own"),
    "2 KV heads": ("two", "adaptive_two"),
    "1 KV head": ("one", "adaptive_one"),
}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="shared_keys")
    cells = []
    for label, (fixed, adaptive) in HEADS.items():
        cells += compare_with_fixed(runs, label, fixed, adaptive)
    return make_table(cells)
