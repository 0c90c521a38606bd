"""Adaptive Attention Span, Figure 3, right: FLOPS against the span limit."""

import pandas as pd

from studies.adaptive_span.figures import _by_limit

READS = ("runs",)
TITLE = "MACs by span limit (Adaptive Attention Span, Figure 3, right)"
CAPTION = (
    "MACs per predicted character by span limit S, at the learned mean span. The cost of a fixed "
    "span grows with S."
)
NOTES = (
    "MACs follow the paper's formula. The paper prints no numbers for this curve: its fixed curve "
    "is the formula, and its adaptive point is from Table 1. Hollow marks: the learned span barely "
    "moved from its initial value, which supports no conclusion."
)
POINTS = {
    "fixed": {S: f"as.f3.right.fixed.{S}" for S in _by_limit.SPANS},
    "adaptive": {8192: "as.t1.as_small.flops"},
}
used = _by_limit.used


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "macs_paper", POINTS)


def draw(data: pd.DataFrame):
    return _by_limit.draw(data, "MACs/character")
