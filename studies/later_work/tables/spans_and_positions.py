"""Adaptive spans beside fixed ones, with each kind of position."""

import pandas as pd

from studies.later_work.tables._pairs import beside_fixed
from workflow.report.tables.cells import make_table, pick

READS = ("runs",)
TITLE = "Adaptive spans beside fixed ones, by position"
CAPTION = (
    "Sinusoids: those of Transformer-XL, through a matrix of each layer. Differences are paired by seed, at the same "
    "S; below 0 the adaptive span is better. An adaptive span of R characters, the ramp of its mask, has not grown."
)
POSITIONS = {"sinusoids": "", "rotary": "_rotary", "linear biases": "_alibi"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="spans_and_positions")
    rows = (beside_fixed(runs, label, f"fixed{end}", f"adaptive{end}") for label, end in POSITIONS.items())
    return make_table([cell for row in rows for cell in row])
