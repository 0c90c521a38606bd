"""Adaptive Attention Span, Figure 3, right: FLOPS against the span limit."""

import pandas as pd

from studies.adaptive_span.figures import _by_limit

READS = ("runs",)
TITLE = "MACs by span limit (Adaptive Attention Span, Figure 3, right)"
CAPTION = (
    "The paper's formula at the measured mean span, per predicted character. The paper prints no "
    "numbers for this curve. Right: the fixed curve follows from its formula, the adaptive point "
    "is from its Table 1. "
    f"{_by_limit.MARKED}"
)
POINTS = {"fixed": {S: f"as.f3.right.fixed.{S}" for S in _by_limit.SPANS}, "adaptive": {8192: "as.t1.as_small.flops"}}
used = _by_limit.used


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "macs_paper", POINTS)


def draw(data: pd.DataFrame):
    return _by_limit.draw(data, "MACs/character")
