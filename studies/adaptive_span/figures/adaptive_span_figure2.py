"""Adaptive Attention Span, Figure 2: the soft mask."""

import pandas as pd

from workflow.report.figures.colours import COLOURS, GREY
from workflow.report.figures.style import canvas

READS = ()
TITLE = "The soft mask (Adaptive Attention Span, Figure 2)"
CAPTION = (
    "The mask m(x) for a ramp R = 32 and a span z = 64, where x = 1 is the nearest past character."
)
NOTES = (
    "m(x) = clamp((R + z - (x - 1)) / R, 0, 1), so that z + R characters are visible. The paper's "
    "formula has x instead of x - 1 (docs/fidelity.md)."
)
R = 32  # the ramp of the mask
Z = 64  # the span
S = 128  # the limit


def data() -> pd.DataFrame:
    """Compute the mask m(x) for x from 1 to S."""
    distances = range(1, S + 1)
    ramp = [(R + Z - (x - 1)) / R for x in distances]
    return pd.DataFrame({"x": distances, "m": [min(1.0, max(0.0, m)) for m in ramp]})


def draw(data: pd.DataFrame):
    figure, axes = canvas(height=2.8)
    axes.plot(data["x"], data["m"], color=COLOURS["adaptive"])
    axes.fill_between(data["x"], data["m"], color=COLOURS["adaptive"], alpha=0.12, lw=0)
    for x, name in ((Z + 1, "z + 1"), (Z + R + 1, "z + R + 1")):
        axes.axvline(x, color=GREY, lw=0.8, ls=":")
        axes.annotate(name, (x, 1.04), ha="center", color=GREY, annotation_clip=False)
    axes.set_xlabel("distance x of the past character")
    axes.set_ylabel("m(x)")
    axes.set_xlim(1, S)
    axes.set_ylim(0, 1.02)
    return figure
