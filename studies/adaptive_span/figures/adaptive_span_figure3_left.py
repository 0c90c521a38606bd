"""Adaptive Attention Span, Figure 3, left: dev bpc against the span limit."""

import pandas as pd

from studies.adaptive_span.figures import _by_limit

READS = ("runs",)
TITLE = "Quality by span limit (Adaptive Attention Span, Figure 3, left)"
CAPTION = "Dev bpc by span limit S, mean over seeds with 95 % CI (bands)."
NOTES = (
    "The paper prints no numbers for these curves. The two published points are the adaptive "
    "models of its Tables 3 (S = 1,024) and 1 (S = 8,192). Hollow marks: the learned span barely "
    "moved from its initial value, which supports no conclusion."
)
POINTS = {"adaptive": {1024: "as.t3.adaptive.dev", 8192: "as.t1.as_small.dev"}}
used = _by_limit.used


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "dev_bpc", POINTS)


def draw(data: pd.DataFrame):
    return _by_limit.draw(data, "dev bits per character")
