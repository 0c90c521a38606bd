"""Adaptive Attention Span, Figure 3, right: FLOPS against the span limit."""

import pandas as pd

from workflow.figures import _by_limit
from workflow.published import value

TITLE = "Multiply-adds by span limit (Adaptive Attention Span, Figure 3, right)"
CAPTION = "The paper's formula at the mean span reached, per predicted character."
SPANS = (256, 512, 1024, 2048, 4096, 8192)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    return _by_limit.data(runs, "macs_paper")


def draw(data: pd.DataFrame):
    published = {S: value(f"as.f3.right.fixed.{S}") for S in SPANS}
    return _by_limit.draw(data, "multiply-adds / character", published)
