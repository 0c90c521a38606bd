"""Adaptive Attention Span, Figure 4: the span of every head by layer."""

import pandas as pd

from workflow.papers.published import load_digitised_spans
from workflow.report.figures._colours import COLOURS
from workflow.report.figures._style import canvas, draw_message, set_count_ticks
from workflow.report.tables._cells import pick

READS = ("runs",)
TITLE = "Span of every head by layer (Adaptive Attention Span, Figure 4)"
CAPTION = (
    "Left: our heads at the largest S of the scale, all seeds. Right: the paper's small model at S = 4096, read "
    "off its plot to about 10 %. Heads of a layer are sorted by span."
)
PANELS = (("measured", "measured here"), ("published", "the paper's model"))


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """The adaptive runs with the largest S."""
    adaptive = pick(runs, ablation="span_limit", variant="adaptive", status="ok")
    return adaptive[adaptive["S"] == adaptive["S"].max()]


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """source, S, layer, head (by rank), span."""
    adaptive = used(runs)
    rows = [
        {"source": "measured", "S": adaptive["S"].iloc[0], "layer": layer, "head": head, "span": span}
        for spans in adaptive["spans"]
        if isinstance(spans, list)
        for layer, heads in enumerate(spans, 1)
        for head, span in enumerate(sorted(heads), 1)
    ]
    published = load_digitised_spans().rename(columns={"head_rank": "head"}).assign(source="published", S=4096)
    rows += published.to_dict("records")
    return pd.DataFrame(rows, columns=["source", "S", "layer", "head", "span"])


def draw(data: pd.DataFrame):
    if not (data["source"] == "measured").any():
        return draw_message("no run with adaptive spans has ended well")
    figure, axes = canvas(2, width_ratios=[1, 1.5])
    for panel, (source, title) in zip(axes, PANELS, strict=True):
        spans = data[data["source"] == source]
        colour = COLOURS["adaptive" if source == "measured" else "published"]
        shift = (spans["head"] - spans["head"].mean()) / (spans["head"].max() + 1) * 0.7
        panel.scatter(spans["layer"] + shift, spans["span"], s=16, color=colour, alpha=0.75, linewidths=0)
        panel.set_yscale("log")
        # spans that hardly differ must look as if they hardly differ
        panel.set_ylim(spans["span"].min() / 1.25, max(spans["span"].max() * 1.25, spans["span"].min() * 8))
        set_count_ticks(panel.yaxis, log=True)
        panel.set_xticks(sorted(spans["layer"].unique()))
        panel.set_xlabel("layer")
        panel.set_title(f"{title}, S = {spans['S'].iloc[0]:.0f}")
    axes[0].set_ylabel("span of a head (characters)")
    return figure
