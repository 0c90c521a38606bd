"""Adaptive Attention Span, Figure 3, centre: average span against the span limit."""

import pandas as pd

from workflow.figures import _by_limit
from workflow.published import value

TITLE = "Average span by span limit (Adaptive Attention Span, Figure 3, centre)"
CAPTION = "A fixed span is its limit. The adaptive average includes the ramp R, as in the paper."
SPANS = (256, 512, 1024, 2048, 4096, 8192)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "mean_span")


def draw(data: pd.DataFrame):
    published = {S: value(f"as.f3.center.fixed.{S}") for S in SPANS}
    return _by_limit.draw(data, "average span (characters)", published)
