"""Quality against cost, one point per way of attending."""

import pandas as pd

from workflow.report.figures._colours import COLOURS, INK, LABELS
from workflow.report.figures._style import canvas, counts, nothing
from workflow.report.tables._cells import once, pick, summary

READS = ("runs", "throughput")
TITLE = "Quality against cost"
CAPTION = (
    "Down is better; at the top left is cheaper, below right is faster. Bars: 95 % interval over seeds. Speeds are "
    "measured once per way of attending."
)
PANELS = (
    ("macs_executed", "executed multiply-adds / character"),
    ("train_tokens_per_s", "training, characters / s"),
    ("predict_tokens_per_s", "prediction, characters / s"),
)
MARKS = "osD^vPX<>"


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick(runs, ablation="normalisers")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """variant, dev bpc (mean, low, high, n) and the three costs; executed multiply-adds are a mean over seeds."""
    mine = used(runs)
    quality = summary(mine, ["variant"], "dev_bpc")
    for what, _ in PANELS:
        ok = [pick(mine, variant=variant, status="ok") for variant in quality["variant"]]
        quality[what] = [(one if what == "macs_executed" else once(one))[what].astype(float).mean() for one in ok]
    return quality


def draw(data: pd.DataFrame):
    data = data.dropna(subset=["mean"]).sort_values("mean")
    if not len(data):
        return nothing("no run of this figure has ended well")
    figure, axes = canvas(rows=len(PANELS), height=2.5, squeeze=False)
    for panel, (what, label) in zip(axes[:, 0], PANELS, strict=True):
        shown = data.dropna(subset=[what]).to_dict("records")
        for one in shown:
            bar = [[one["mean"] - one["low"]], [one["high"] - one["mean"]]] if pd.notna(one["low"]) else None
            mark = MARKS[sorted(LABELS).index(one["variant"]) % len(MARKS)] if one["variant"] in LABELS else "o"
            panel.errorbar(one[what], one["mean"], bar, fmt=mark, ms=6, mec=INK, mew=0.5, color=_colour(one), lw=0.9)
        if shown:
            panel.set_xscale("log")
            panel.margins(x=0.08)
            counts(panel.xaxis, log=True)
        panel.set_xlabel(label if shown else f"{label}: not measured")
        panel.set_ylabel("dev bpc")
        _name(panel, shown, what)
    return figure


def _colour(one: dict) -> str:
    return COLOURS.get(one["variant"], INK)


def _name(panel, shown: list[dict], what: str) -> None:
    """Names in a column on the right, in the order of the points, each tied to its point by a thin line."""
    low, high = panel.get_ylim()
    places = _apart([(one["mean"] - low) / (high - low) for one in shown], min(1 / max(len(shown), 1), 0.115))
    for one, place in zip(shown, places, strict=True):
        panel.annotate(
            LABELS.get(one["variant"], one["variant"]),
            (one[what], one["mean"]),
            (1.07, place),
            textcoords="axes fraction",
            color=INK,
            fontsize=8,
            va="center",
            arrowprops={"arrowstyle": "-", "color": _colour(one), "lw": 0.5, "alpha": 0.6, "relpos": (0, 0.5)},
        )


def _apart(places: list[float], gap: float) -> list[float]:
    """Ascending places in 0 .. 1, each moved as little as a distance of `gap` to its neighbours asks for.

    >>> _apart([0.5, 0.5, 0.9], 0.2)
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
