"""Attention Is All You Need, Table 1, measured: time of a layer by sequence length."""

import pandas as pd

from workflow.report.figures.colours import shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import (
    bars_of,
    canvas,
    draw_message,
    set_log,
    set_powers,
    share_legend,
)
from workflow.results import layers as layer_costs
from workflow.results.statistics import POSITIVE, over_seeds

READS = ("layers",)
TITLE = "Time of a layer by sequence length (Attention Is All You Need, Table 1, measured)"
CAPTION = (
    "Time of one layer, forward and backward, by sequence length n. On these axes n^p is a line "
    "of slope p."
)
NOTES = (
    "One sequence; bars are 95 % CI over timing rounds. Slopes are fitted over every n drawn; the "
    "ledger fits the upper half, where the fixed overhead of a call matters less. Comparable with "
    "the formulas: slopes (2 for self-attention, 1 for the others). Not comparable: heights, "
    "because some libraries are better tuned."
)
origin = layer_costs.origin
commits = layer_costs.commits


def data(layers: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each layer at each n, with its interval over rounds.

    exponent: of n, fitted to all times of the layer.
    """
    timed = layers[layers["status"] == "ok"].sort_values(["layer", "n"])
    lows = []
    highs = []
    for row in timed.to_dict("records"):
        summary = over_seeds(layer_costs.values_of(row, "ms"), bounds=POSITIVE)
        lows.append(summary.low)
        highs.append(summary.high)
    timed = timed[["layer", "n", "d", "ms"]].assign(low=lows, high=highs)
    timed = timed.astype({"low": float, "high": float})
    exponents = {}
    for name, layer in timed.groupby("layer"):
        exponents[name] = layer_costs.exponent(layer["n"], layer["ms"])
    return timed.assign(exponent=timed["layer"].map(exponents).astype(float))


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message("layers were not measured")
    figure, axes = canvas()
    labels = layer_costs.LABELS
    for colour, (name, label) in zip(shades(len(labels)), labels.items(), strict=True):
        layer = data[data["layer"] == name]
        if not len(layer):
            continue
        slope = layer["exponent"].iloc[0]
        if pd.notna(slope):
            label = f"{label}, slope {slope:.2f}"
        bars = bars_of(layer, "ms")
        look = {"color": colour, "label": label, "marker": "o", "markersize": 4}
        shows(axes.errorbar(layer["n"], layer["ms"], bars, **look), layer.index)
    lengths = sorted(data["n"].unique())
    set_powers(axes.xaxis, {n: str(n) for n in lengths})
    set_log(axes.yaxis)
    axes.set_xlabel("length n of the sequence")
    axes.set_ylabel("ms, forward and backward")
    share_legend(figure)
    return figure
