"""Adaptive spans compared with fixed spans, by position encoding."""

import pandas as pd

from studies.later_work.tables._pairs import compare_with_fixed
from workflow.report.tables.cells import make_table, pick

READS = ("runs",)
TITLE = "Adaptive and fixed spans by position encoding"
CAPTION = (
    "Sinusoidal: the relative encoding of Transformer-XL, with a projection per layer. Differences "
    "are paired by seed at the same S; negative means that the adaptive span is better. An "
    "adaptive span equal to R, the ramp of its mask, has not grown."
)
POSITIONS = {"sinusoidal": "", "RoPE": "_rotary", "ALiBi": "_alibi"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="spans_and_positions")
    cells = []
    for label, end in POSITIONS.items():
        cells += compare_with_fixed(runs, label, f"fixed{end}", f"adaptive{end}")
    return make_table(cells)
