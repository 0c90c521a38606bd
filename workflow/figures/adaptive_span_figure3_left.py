"""Adaptive Attention Span, Figure 3, left: dev bpc against the span limit."""

import pandas as pd

from workflow.figures import _by_limit

TITLE = "Quality by span limit (Adaptive Attention Span, Figure 3, left)"
CAPTION = (
    "Bands: 95 % interval over seeds. The texts at hand keep no point of the paper's curves, only that both "
    "fall with S."
)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "dev_bpc")


def draw(data: pd.DataFrame):
    return _by_limit.draw(data, "dev bits per character")
