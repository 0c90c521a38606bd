"""Quality against cost, one point per way of attending."""

import pandas as pd

from workflow.figures._style import COLOURS, LABELS, canvas, nothing, summary
from workflow.tables._cells import pick

TITLE = "Quality against cost"
CAPTION = (
    "Down is better, in the left panel left is cheaper, in the others right is faster. Bars: 95 % interval over seeds."
)
PANELS = (
    ("macs_executed", "executed multiply-adds / character"),
    ("train_tokens_per_s", "training, characters / s"),
    ("predict_tokens_per_s", "prediction, characters / s"),
)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """variant, dev bpc (mean, low, high, n) and the three costs."""
    mine = pick(runs, ablation="normalisers")
    quality = summary(mine, ["variant"], "dev_bpc")
    for what, _ in PANELS:
        quality[what] = [mine[mine["variant"] == variant][what].astype(float).mean() for variant in quality["variant"]]
    return quality


def draw(data: pd.DataFrame):
    data = data.dropna(subset=["mean"])
    if not len(data):
        return nothing("no run of this figure has ended well")
    figure, axes = canvas(3, width=3.6, height=3.4, sharey=True)
    for panel, (what, label) in zip(axes, PANELS, strict=True):
        for one in data.dropna(subset=[what]).to_dict("records"):
            bar = [[one["mean"] - one["low"]], [one["high"] - one["mean"]]] if pd.notna(one["low"]) else None
            colour = COLOURS.get(one["variant"], "#000000")
            name = LABELS.get(one["variant"], one["variant"])
            panel.errorbar(one[what], one["mean"], bar, fmt="o", ms=6, color=colour, lw=0.9, label=name)
        panel.set_xscale("log")
        panel.set_xlabel(label)
    axes[0].set_ylabel("dev bits per character")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, fontsize=8)
    return figure
