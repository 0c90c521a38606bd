"""Adaptive Attention Span, Figure 4: the span of every head by layer."""

from pathlib import Path

import pandas as pd

from studies.adaptive_span.figures._by_limit import PUBLISHED
from workflow.report.figures.colours import COLOURS, GREY, INK
from workflow.report.figures.marks import shows
from workflow.report.figures.style import STILL, canvas, draw_message, fold, set_log
from workflow.report.tables.cells import pick
from workflow.results.datasets import with_badge
from workflow.results.trained_enough import hardly_moved

# layer, head_rank, span; exact to about 10 %
DIGITISED = Path(__file__).with_name("figure4_digitised.csv")
READS = ("runs",)
TITLE = "Learned span of every head by layer (Adaptive Attention Span, Figure 4)"
CAPTION = (
    "Learned span of every head by layer, at the largest S of the scale; the paper's small model "
    "comes last."
)
NOTES = (
    "All seeds; the heads of a layer are sorted by span. The last panel is the paper's small model "
    "at S = 4,096, read off its plot to about 10 %. Spans that barely moved from their initial "
    "value support no conclusion."
)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """Pick the adaptive runs with the largest S."""
    adaptive = pick(runs, question="head_spans", variant="adaptive", status="ok")
    return adaptive[adaptive["S"] == adaptive["S"].max()]


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the span of each head, in characters.

    text: the badge of the dataset, or `PUBLISHED`. head: by rank. unmoved: whether the mean span of
    these models has hardly moved from its start.
    """
    adaptive = used(runs)
    adaptive = with_badge(adaptive.assign(unmoved=hardly_moved(adaptive)))
    rows = []
    for run in adaptive.itertuples():
        of_run = {"text": run.text, "S": run.S, "unmoved": run.unmoved}
        layers = run.spans if isinstance(run.spans, list) else []
        for layer, heads in enumerate(layers, start=1):
            for head, span in enumerate(sorted(heads), start=1):
                rows.append({**of_run, "layer": layer, "head": head, "span": span})
    published = pd.read_csv(DIGITISED).rename(columns={"head_rank": "head"})
    rows += published.assign(text=PUBLISHED, S=4096, unmoved=False).to_dict("records")
    return pd.DataFrame(rows, columns=["text", "S", "layer", "head", "span", "unmoved"])


def draw(data: pd.DataFrame):
    if not (data["text"] != PUBLISHED).any():
        return draw_message("no run with adaptive spans finished")
    panels = data.groupby("text", sort=False)
    figure, axes = canvas(len(panels))
    for panel, (text, spans) in zip(axes, panels, strict=True):
        colour = COLOURS["published" if text == PUBLISHED else "adaptive"]
        shift = (spans["head"] - spans["head"].mean()) / (spans["head"].max() + 1) * 0.7
        style = {"s": 16, "color": colour, "alpha": 0.75, "linewidths": 0}
        shows(panel.scatter(spans["layer"] + shift, spans["span"], **style), spans.index)
        # spans that hardly differ must look as if they hardly differ
        least = spans["span"].min()
        panel.set_ylim(least / 1.25, max(spans["span"].max() * 1.25, least * 8))
        set_log(panel.yaxis)
        layers = sorted(spans["layer"].unique())
        panel.set_xticks(layers if len(layers) <= 8 else layers[1::2])
        panel.set_xlabel("layer")
        panel.set_ylabel("span of a head (characters)")
        moved = f", {STILL}" if spans["unmoved"].any() else ""
        title = fold(f"{text}, S = {spans['S'].iloc[0]:.0f}{moved}")
        panel.set_title(title, color=GREY if text == PUBLISHED else INK)
    return figure
