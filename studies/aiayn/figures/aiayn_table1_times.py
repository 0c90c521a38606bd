"""Attention Is All You Need, Table 1, measured: time of a layer against the length of its sequence."""

import pandas as pd

from workflow.report.figures.colours import shades
from workflow.report.figures.marks import shows
from workflow.report.figures.style import canvas, draw_message, set_log, set_powers
from workflow.report.tables import layer_costs
from workflow.results.statistics import half_width, over_seeds

READS = ("layers",)
TITLE = "Time of a layer by the length of its sequence (Attention Is All You Need, Table 1, measured)"
CAPTION = (
    "A pass forward and back of one layer over one sequence, both axes logarithmic, so that n^p is a line of slope p; "
    "bars are 95 % intervals over turns. A slope is fitted over every n drawn, as in the table; the ledger fits over "
    "the upper half of them, where what every call costs weighs less, so that the two differ. Slopes are comparable "
    "with the formulas (n^2 for self-attention, n for the others); heights are not, for the kinds stand on libraries "
    "made with unlike care."
)
origin, commits = layer_costs.origin, layer_costs.commits


def data(layers: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each layer at each n, with its interval over turns, and the exponent fitted to the layer."""
    timed = layers[layers["status"] == "ok"].sort_values(["layer", "n"])
    shown = [over_seeds(layer_costs.values_of(row, "ms")) for row in timed.to_dict("records")]
    timed = timed[["layer", "n", "d", "ms"]].assign(**{end: [each[end] for each in shown] for end in ("low", "high")})
    timed = timed.astype({"low": float, "high": float})
    exponents = {name: layer_costs.exponent(layer["n"], layer["ms"]) for name, layer in timed.groupby("layer")}
    return timed.assign(exponent=timed["layer"].map(exponents).astype(float))


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message("layers were not measured")
    figure, axes = canvas()
    for colour, (name, label) in zip(shades(len(layer_costs.LABELS)), layer_costs.LABELS.items(), strict=True):
        layer = data[data["layer"] == name]
        if len(layer):
            slope = layer["exponent"].iloc[0]
            label += f", slope {slope:.2f}" if pd.notna(slope) else ""
            half = half_width(layer["low"], layer["high"]).fillna(0)
            style = {"color": colour, "label": label, "marker": "o", "markersize": 4}
            shows(axes.errorbar(layer["n"], layer["ms"], half, **style), layer.index)
    lengths = sorted(data["n"].unique())
    set_powers(axes.xaxis, {n: str(n) for n in lengths})
    set_log(axes.yaxis)
    axes.set_xlabel("length n of the sequence")
    axes.set_ylabel("ms, forward and back")
    axes.legend(title="slope over every n")
    return figure
