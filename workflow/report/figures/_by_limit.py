"""The three panels of Figure 3 share this: one quantity against the span limit S, fixed and adaptive."""

import pandas as pd

from workflow.papers.published import find
from workflow.report.figures._colours import COLOURS, LABELS
from workflow.report.figures._style import canvas, counts, curve, nothing, span_axis
from workflow.report.tables._cells import pick, summary

VARIANTS = ("fixed", "adaptive")
SPANS = (256, 512, 1024, 2048, 4096, 8192)
PANELS = (("measured", "measured here"), ("published", "the paper's model"))


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, ablation="span_limit")


def data(runs: pd.DataFrame, what: str, points: dict[str, dict[int, str]]) -> pd.DataFrame:
    """source, variant, S, mean, low, high, n, failed, published (its id). points: variant -> S -> published id."""
    ours = summary(used(runs), ["variant", "S"], what).assign(source="measured", published=None)
    theirs = [
        {"source": "published", "variant": variant, "S": S, "mean": find(key).value, "published": key}
        for variant, at in points.items()
        for S, key in at.items()
    ]
    rows = ours.to_dict("records") + theirs
    return pd.DataFrame(rows, columns=["source", *ours.columns.drop(["source", "published"]), "published"])


def draw(data: pd.DataFrame, ylabel: str):
    """Ours on the left; what the paper's texts hold, in a panel and on a scale of their own."""
    if not data[data["source"] == "measured"]["mean"].notna().any():
        return nothing("no run of this figure has ended well")
    figure, axes = canvas(2, height=2.9)
    for panel, (source, title) in zip(axes, PANELS, strict=True):
        shown = data[data["source"] == source]
        for variant in VARIANTS:
            one = shown[shown["variant"] == variant]
            if len(one):
                line = {} if source == "measured" else _line(one)
                curve(panel, one, "S", COLOURS[variant], LABELS[variant] + line.pop("which", ""), **line)
        span_axis(panel, shown["S"])
        panel.tick_params(axis="x", labelsize=8)
        panel.set_title(title)
        panel.legend(fontsize=8)
        if data["mean"].max() > 1000:
            counts(panel.yaxis)
    axes[0].set_ylabel(ylabel)
    return figure


def _line(points: pd.DataFrame) -> dict:
    """A dashed line where the values follow from a formula, loose marks where the paper has some of them."""
    if all(find(key).kind == "analytic" and find(key).inferred for key in points["published"]):
        return {"which": " (by formula)", "linestyle": "--", "marker": "s"}
    return {"linestyle": "none", "marker": "D", "markersize": 6}
