"""Adaptive spans beside fixed ones, with fewer and fewer heads of keys."""

import pandas as pd

from studies.later_work.tables._pairs import beside_fixed
from workflow.report.tables.cells import make_table, pick

READS = ("runs",)
TITLE = "Adaptive spans beside fixed ones, by heads of keys"
CAPTION = (
    "Heads of queries share as many heads of keys and values as the row says. Differences are paired by seed, at "
    "the same S; below 0 the adaptive span is better."
)
HEADS = {
    "a head of keys for each of queries": ("own", "adaptive_own"),
    "2 heads of keys": ("two", "adaptive_two"),
    "1 head of keys": ("one", "adaptive_one"),
}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="shared_keys")
    rows = (beside_fixed(runs, label, *variants) for label, variants in HEADS.items())
    return make_table([cell for row in rows for cell in row])
