"""Adaptive Attention Span, Figure 5: a dynamic span over real text, character by character."""

import pandas as pd

from workflow.figures._style import COLOURS, canvas, nothing
from workflow.tables._cells import pick

TITLE = "Dynamic span over a text (Adaptive Attention Span, Figure 5)"
CAPTION = "Mean span over layers and heads for each character of a stretch of dev text, one seed."


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """place, character, span."""
    dynamic = pick(runs, ablation="dynamic_span", variant="dynamic", status="ok")
    found = next((one for one in dynamic["fragment"] if isinstance(one, dict)), None)
    if found is None:
        return pd.DataFrame(columns=["place", "character", "span"])
    pairs = zip(found["text"], found["span"], strict=True)
    return pd.DataFrame([{"place": i, "character": c, "span": s} for i, (c, s) in enumerate(pairs)])


def draw(data: pd.DataFrame):
    if not len(data):
        return nothing("no run with a dynamic span has ended well")
    figure, axes = canvas(width=9.5, height=2.6)
    axes.step(data["place"], data["span"], where="mid", color=COLOURS["dynamic"])
    axes.set_xticks(
        data["place"], [" " if one == "<eos>" else one for one in data["character"]], family="DejaVu Sans Mono"
    )
    axes.tick_params(axis="x", length=0, labelsize=8)
    axes.grid(axis="x", visible=False)
    axes.margins(x=0.01)
    axes.set_ylabel("mean span")
    return figure
