"""Top-k on adaptive spans while training: bpc and mean span against steps, beside the logs that came with the code."""

import pandas as pd

from workflow.papers.published import load_logs
from workflow.report.figures._colours import GREY, INK, shades
from workflow.report.figures._style import (
    DASHES,
    average_by_step,
    canvas,
    draw_curve,
    draw_message,
    set_count_ticks,
    share_legend,
)
from workflow.report.tables._cells import pick

READS = ("runs",)
TITLE = "Top-k on adaptive spans while training"
CAPTION = (
    "Left: our runs, means over seeds with 95 % intervals, or the points of two seeds. Right: the three logs released "
    "with Explicit Sparse Transformer (enwik8, paper's size; none reached its planned 600,000 steps)."
)
PANELS = (("dev_bpc", "dev bits per byte"), ("mean_span", "mean span (characters)"))


def used(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, ablation="top_k", status="ok")
    return runs[runs["variant"].isin(("adaptive", "adaptive_top_k"))]


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """source, k (0: all), seed, step, dev_bpc, mean_span."""
    rows = []
    for run in used(runs).itertuples():
        k = 0 if pd.isna(run.k) else int(run.k)
        for point in run.curve:
            row = {"source": "measured", "k": k, "seed": run.seed, "step": point["step"]}
            rows.append({**row, "dev_bpc": point["dev_bpc"], "mean_span": point["mean_span"]})
    released = load_logs().rename(columns={"val_bpc": "dev_bpc", "span_avg": "mean_span"})
    released = released.assign(source="published", seed=0, k=released["topk"].fillna(0).astype(int))
    columns = ["source", "k", "seed", "step", "dev_bpc", "mean_span"]
    return pd.DataFrame(rows + released.to_dict("records"), columns=columns)


def draw(data: pd.DataFrame):
    if not (data["source"] == "measured").any():
        return draw_message("no run with adaptive spans has ended well")
    figure, axes = canvas(2, rows=2, height=2.5)
    ks = sorted(data["k"].unique())
    colours = dict(zip(ks, shades(len(ks)), strict=True))  # a k has one colour on both sides
    for column, (source, title) in enumerate((("measured", "measured here"), ("published", "the released logs"))):
        curves = data[data["source"] == source]
        for panel, (quantity, label) in zip(axes[:, column], PANELS, strict=True):
            for k, lines in curves.groupby("k"):
                look = {"marker": None, "ls": DASHES[ks.index(k) % len(DASHES)]}
                draw_curve(panel, average_by_step(lines, quantity), "step", colours[k], _label(k), **look)
            set_count_ticks(panel.xaxis)
            panel.set_ylabel(label if column == 0 else "")
        axes[0][column].set_title(title, color=INK if source == "measured" else GREY)
        axes[1][column].set_xlabel("step")
    share_legend(figure)
    return figure


def _label(k: int) -> str:
    return f"k = {k}" if k else "all keys"
