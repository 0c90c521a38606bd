"""Top-k on adaptive spans while training: bpc and mean span against steps, beside the logs that came with the code."""

import pandas as pd

from workflow.figures._style import SEQUENCE, canvas, nothing
from workflow.published import logs
from workflow.tables._cells import pick

TITLE = "Top-k on adaptive spans while training"
CAPTION = (
    "Left: our runs, each seed a line. Right: the three logs released with Explicit Sparse Transformer (enwik8,"
    " paper's size; none reached its planned 600,000 steps)."
)
PANELS = (("dev_bpc", "dev bits per byte"), ("mean_span", "mean span (characters)"))


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """source, k (0: all), seed, step, dev_bpc, mean_span."""
    rows = []
    for variant in ("adaptive", "adaptive_top_k"):
        for run in pick(runs, ablation="top_k", variant=variant, status="ok").itertuples():
            k = 0 if pd.isna(run.k) else int(run.k)
            for point in run.curve:
                row = {"source": "measured", "k": k, "seed": run.seed, "step": point["step"]}
                rows.append({**row, "dev_bpc": point["dev_bpc"], "mean_span": point["mean_span"]})
    theirs = logs().assign(source="published", seed=0, k=logs()["topk"].fillna(0).astype(int))
    theirs = theirs.rename(columns={"val_bpc": "dev_bpc", "span_avg": "mean_span"})
    columns = ["source", "k", "seed", "step", "dev_bpc", "mean_span"]
    return pd.DataFrame(rows + theirs.to_dict("records"), columns=columns)


def draw(data: pd.DataFrame):
    if not (data["source"] == "measured").any():
        return nothing("no run with adaptive spans has ended well")
    figure, axes = canvas(2, rows=2, height=2.8)
    for column, (source, title) in enumerate((("measured", "measured here"), ("published", "the released logs"))):
        one = data[data["source"] == source]
        for row, (what, label) in enumerate(PANELS):
            panel = axes[row][column]
            for colour, (k, lines) in zip(SEQUENCE, one.groupby("k"), strict=False):
                for number, (_, line) in enumerate(lines.groupby("seed")):
                    name = ("all keys" if k == 0 else f"k = {k}") if number == 0 else None
                    panel.plot(line["step"], line[what], color=colour, label=name, lw=1.3, alpha=0.9)
            panel.set_ylabel(label)
            panel.set_title(title if row == 0 else "")
            panel.set_xlabel("step" if row == 1 else "")
        axes[0][column].legend()
    return figure
