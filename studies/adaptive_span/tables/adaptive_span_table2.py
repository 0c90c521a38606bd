"""Adaptive Attention Span, Table 2: character language models on enwik8."""

import pandas as pd

from studies.adaptive_span.tables import _models

READS = ("runs",)
TITLE = "Character language models on enwik8 (Adaptive Attention Span, Table 2)"
CAPTION = (
    "Our rows are trained at this scale, on a text in place of enwik8; bits are per byte. Comparable with the paper: "
    "what is computed at its sizes, ratios, orderings. Not comparable: bits and spans."
)
ROWS = [
    ("T12 (Al-Rfou)", "t12", None),
    ("Transformer-XL, 12 layers", "txl12", "txl_12"),
    ("Adaptive span, small", "as_small", "as_small"),
    ("T64 (Al-Rfou)", "t64", None),
    ("Transformer-XL, 18 layers", "txl18", None),
    ("Transformer-XL, 24 layers", "txl24", "txl_24"),
    ("Adaptive span, large", "as_large", "as_large"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    return _models.build(runs, "enwik8", "as.t2", ROWS)
