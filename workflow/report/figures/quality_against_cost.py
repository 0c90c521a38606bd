"""Quality against cost, one point per attention variant."""

import pandas as pd

from workflow.report.figures._colours import INK
from workflow.report.figures._style import canvas, draw_message, draw_points, set_log, share_legend
from workflow.report.figures._variants import as_named
from workflow.report.tables._cells import pick, summarise
from workflow.results.statistics import half_width

READS = ("runs", "throughput")
TITLE = "Quality against cost"
CAPTION = (
    "Down is better; in the first panel left is cheaper, in the others right is faster. Bars: 95 % interval over "
    "seeds, of speeds over the turns of their timing; of two seeds small dots are the seeds themselves."
)
PANELS = (
    ("macs_executed", "executed multiply-adds / character"),
    ("train_tokens_per_s", "training, characters / s"),
    ("predict_tokens_per_s", "prediction, characters / s"),
)
MARKS = "osD^vPX<>"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, ablation="quality_against_cost")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """variant, colour, dev bpc (mean, low, high, n) and three costs: means over seeds or turns, with low and high."""
    runs = as_named(used(runs))
    quality = summarise(runs, ["variant", "colour"], "dev_bpc")
    for cost, _ in PANELS:
        names = {"mean": cost, "low": f"{cost}_low", "high": f"{cost}_high"}
        costs = summarise(runs, ["variant"], cost).rename(columns=names)
        quality = quality.merge(costs[["variant", *names.values()]], on="variant")
    return quality


def draw(data: pd.DataFrame):
    """A panel for each cost; a mark and a colour for each variant, named in one legend for all panels."""
    data = data.dropna(subset=["mean"]).sort_values("mean")
    if not len(data):
        return draw_message("no run of this figure has ended well")
    figure, axes = canvas(rows=len(PANELS), height=2.4, squeeze=False)
    for panel, (cost, label) in zip(axes[:, 0], PANELS, strict=True):
        points = data.dropna(subset=[cost])
        for number, point in enumerate(points.to_dict("records")):
            _draw_point(panel, point, cost, number)
        if len(points):
            panel.margins(x=0.08)
            set_log(panel.xaxis)
        panel.set_xlabel(label if len(points) else f"{label}: not measured")
        panel.set_ylabel("dev bpc")
    share_legend(figure)
    return figure


def _draw_point(panel, point: dict, cost: str, number: int) -> None:
    """The mean with its interval, or with the points of few seeds."""
    half = half_width(point["low"], point["high"])
    style = {"fmt": MARKS[number % len(MARKS)], "ms": 6, "mec": INK, "mew": 0.5, "color": point["colour"], "lw": 0.9}
    bars = [None if pd.isna(each) else each for each in (half, half_width(point[f"{cost}_low"], point[f"{cost}_high"]))]
    panel.errorbar(point[cost], point["mean"], *bars, label=point["variant"], **style)
    draw_points(panel, pd.DataFrame([point]), cost, point["colour"])
