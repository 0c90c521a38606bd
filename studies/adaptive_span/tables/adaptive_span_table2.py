"""Adaptive Attention Span, Table 2: character language models on enwik8."""

import pandas as pd

from studies.adaptive_span.tables import _models

READS = ("runs",)
TITLE = "Character language models (Adaptive Attention Span, Table 2: enwik8)"
CAPTION = (
    "We train our rows at this scale, on the corpus named with the table; bits are per byte. "
    "Comparable with the paper: numbers computed at its model sizes, ratios and rankings. Not "
    "comparable: bits per byte and spans. The paper's small Transformer-XL has 12 layers, its "
    "large one 24."
)
ROWS = [
    ("T12 (Al-Rfou)", "t12", None),
    ("Transformer-XL, small", "txl12", "txl_12"),
    ("Adaptive span, small", "as_small", "as_small"),
    ("T64 (Al-Rfou)", "t64", None),
    ("Transformer-XL, 18 layers", "txl18", None),
    ("Transformer-XL, large", "txl24", "txl_24"),
    ("Adaptive span, large", "as_large", "as_large"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return _models.build(runs, "enwik8", "as.t2", ROWS)
