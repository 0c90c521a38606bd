"""The three panels of Figure 3 share this: one quantity against the span limit S, fixed and adaptive."""

import pandas as pd

from workflow.figures._style import COLOURS, LABELS, canvas, curve, nothing, span_axis, summary
from workflow.tables._cells import pick

VARIANTS = ("fixed", "adaptive")


def data(runs: pd.DataFrame, what: str) -> pd.DataFrame:
    return summary(pick(runs, ablation="span_limit"), ["variant", "S"], what)


def draw(data: pd.DataFrame, ylabel: str, published: dict[int, float] | None = None):
    """Ours on the left; the paper's points, where it prints or implies any, in a panel and on a scale of their own."""
    if not data["mean"].notna().any():
        return nothing("no run of this figure has ended well")
    figure, axes = canvas(2 if published else 1, squeeze=False)
    ours = axes[0][0]
    for variant in VARIANTS:
        curve(ours, data[data["variant"] == variant], "S", COLOURS[variant], LABELS[variant])
    span_axis(ours, data["S"])
    ours.set_ylabel(ylabel)
    ours.set_title("measured here")
    ours.legend()
    if published:
        theirs = axes[0][1]
        theirs.plot(
            list(published), list(published.values()), "s--", color=COLOURS["published"], label="fixed span, published"
        )
        span_axis(theirs, published)
        theirs.set_ylabel(ylabel)
        theirs.set_title("the paper's model")
        theirs.legend()
    return figure
