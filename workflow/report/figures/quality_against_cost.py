"""Quality against cost, one point per attention variant."""

import pandas as pd

from workflow.report.figures._colours import COLOURS, INK, LABELS
from workflow.report.figures._style import canvas, draw_message, set_count_ticks
from workflow.report.tables._cells import pick, summarise, take_rows
from workflow.results.statistics import half_width

READS = ("runs", "throughput")
TITLE = "Quality against cost"
CAPTION = (
    "Down is better; at the top left is cheaper, below right is faster. Bars: 95 % interval over seeds. Speeds are "
    "measured once per attention variant."
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
    """variant, dev bpc (mean, low, high, n) and the three costs; executed multiply-adds are a mean over seeds."""
    runs = used(runs)
    quality = summarise(runs, ["variant"], "dev_bpc")
    for cost, _ in PANELS:
        seeds = [pick(runs, variant=variant, status="ok") for variant in quality["variant"]]
        quality[cost] = [take_rows(rows, cost)[cost].astype(float).mean() for rows in seeds]
    return quality


def draw(data: pd.DataFrame):
    data = data.dropna(subset=["mean"]).sort_values("mean")
    if not len(data):
        return draw_message("no run of this figure has ended well")
    figure, axes = canvas(rows=len(PANELS), height=2.5, squeeze=False)
    for panel, (cost, label) in zip(axes[:, 0], PANELS, strict=True):
        points = data.dropna(subset=[cost]).to_dict("records")
        for point in points:
            variant, half = point["variant"], half_width(point["low"], point["high"])
            bar = None if pd.isna(half) else half
            mark = MARKS[sorted(LABELS).index(variant) % len(MARKS)] if variant in LABELS else "o"
            style = {"fmt": mark, "ms": 6, "mec": INK, "mew": 0.5, "color": _colour(point), "lw": 0.9}
            panel.errorbar(point[cost], point["mean"], bar, **style)
        if points:
            panel.set_xscale("log")
            panel.margins(x=0.08)
            set_count_ticks(panel.xaxis, log=True)
        panel.set_xlabel(label if points else f"{label}: not measured")
        panel.set_ylabel("dev bpc")
        _name_points(panel, points, cost)
    return figure


def _colour(point: dict) -> str:
    return COLOURS.get(point["variant"], INK)


def _name_points(panel, points: list[dict], cost: str) -> None:
    """Names in a column on the right, in the order of the points, each tied to its point by a thin line."""
    low, high = panel.get_ylim()
    gap = min(1 / max(len(points), 1), 0.115)
    places = _spread_out([(point["mean"] - low) / (high - low) for point in points], gap)
    for point, place in zip(points, places, strict=True):
        panel.annotate(
            LABELS.get(point["variant"], point["variant"]),
            (point[cost], point["mean"]),
            (1.07, place),
            textcoords="axes fraction",
            color=INK,
            fontsize=8,
            va="center",
            arrowprops={"arrowstyle": "-", "color": _colour(point), "lw": 0.5, "alpha": 0.6, "relpos": (0, 0.5)},
        )


def _spread_out(places: list[float], gap: float) -> list[float]:
    """Ascending places in 0 .. 1, each moved as little as a distance of `gap` to its neighbours asks for.

    >>> _spread_out([0.5, 0.5, 0.9], 0.2)
    [0.4, 0.6, 0.9]
    """
    groups: list[list[float]] = []  # neighbours that touch, by where each would like its group to start
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _start(groups[-2], gap) + len(groups[-2]) * gap > _start(groups[-1], gap):
            last = groups.pop()
            groups[-1] += [wish - gap * len(groups[-1]) for wish in last]
    return [round(_start(group, gap) + gap * number, 6) for group in groups for number in range(len(group))]


def _start(group: list[float], gap: float) -> float:
    return min(max(sum(group) / len(group), 0.0), 1 - gap * (len(group) - 1))
