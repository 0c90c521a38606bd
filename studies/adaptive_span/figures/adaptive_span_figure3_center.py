"""Adaptive Attention Span, Figure 3, centre: average span against the span limit."""

import pandas as pd

from studies.adaptive_span.figures import _by_limit

READS = ("runs",)
TITLE = "Average span by span limit (Adaptive Attention Span, Figure 3, centre)"
CAPTION = "Mean span by span limit S, over seeds with 95 % CI."
NOTES = (
    "A fixed span equals its limit. The adaptive mean includes the ramp R, as in the paper. "
    "Published points: Table 3 (S = 1,024), the mean of Figure 4, read off its plot to about 10 % "
    "(4,096), and the text (8,192). Hollow marks: the learned span barely moved from its initial "
    "value, which supports no conclusion."
)
POINTS = {
    "fixed": {S: f"as.f3.center.fixed.{S}" for S in _by_limit.SPANS},
    "adaptive": {1024: "as.t3.adaptive.span", 4096: "as.f4.mean", 8192: "as.txt.avgspan"},
}
used = _by_limit.used


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "mean_span", POINTS)


def draw(data: pd.DataFrame):
    return _by_limit.draw(data, "average span (characters)")
