"""Adaptive Attention Span, Table 1: character language models on text8."""

import pandas as pd

from studies.adaptive_span.tables import _models

READS = ("runs",)
TITLE = "Character language models (Adaptive Attention Span, Table 1: text8)"
CAPTION = (
    "We train our rows at this scale, on the corpus named with the table. Comparable with the "
    "paper: numbers computed at its model sizes, ratios and rankings. Not comparable: bits per "
    "character and spans. The paper's Table 1 has no small Transformer-XL."
)
ROWS = [
    ("T12 (Al-Rfou)", "t12", None),
    ("Adaptive span, small", "as_small", "as_small"),
    ("T64 (Al-Rfou)", "t64", None),
    ("Transformer-XL, small", "txl12", "txl_12"),
    ("Transformer-XL, large", "txl24", "txl_24"),
    ("Adaptive span, large", "as_large", "as_large"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return _models.build(runs, "text8", "as.t1", ROWS)
