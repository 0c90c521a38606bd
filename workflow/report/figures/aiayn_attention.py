"""Attention Is All You Need, the attention of every head of the encoder's last layer for one sentence."""

import numpy as np
import pandas as pd

from workflow.report.figures._maps import NO_MAPS, draw_heat
from workflow.report.figures._style import canvas, draw_message, pick_holding
from workflow.report.tables._cells import pick

READS = ("runs", "maps")
TITLE = "What the heads of the last encoder layer look at (Attention Is All You Need, attention visualisations)"
CAPTION = (
    "The base net on one sentence of English-German, written for this project or of test, its first seed that ended "
    "well; a row is a query, and its weights sum to one. Comparable: whether heads of one layer do different things. "
    "Not comparable: which, for the net, its text and the sentence are not the paper's."
)
COLUMNS = ["layer", "head", "query", "key", "query_piece", "key_piece", "weight"]


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """The first seed of the base net whose record has maps."""
    base = pick_holding(
        pick(runs, ablation="transformer", variant="base", paper_corpus="wmt14-ende", status="ok"), "maps"
    )
    return base[base["maps"].map(bool).astype(bool)].sort_values("seed").head(1)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per head, query and key of the last layer, all counted from 1, with their pieces."""
    maps = next(iter(used(runs)["maps"]), None)
    if maps is None:
        return pd.DataFrame(columns=COLUMNS)
    layer, pieces = max(maps["encoder"], key=int), maps["source"]
    weights = np.array(maps["encoder"][layer])
    rows = [
        (int(layer), head + 1, query + 1, key + 1, pieces[query], pieces[key], weight)
        for (head, query, key), weight in np.ndenumerate(weights)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message(NO_MAPS)
    heads = sorted(data["head"].unique())
    figure, panels = canvas(2, height=3.0, rows=-(-len(heads) // 2), squeeze=False)
    for axes in panels.flat[len(heads) :]:
        axes.axis("off")
    for axes, head in zip(panels.flat, heads, strict=False):
        weights = data[data["head"] == head]
        pieces = weights.drop_duplicates("query")["query_piece"].tolist()
        grid = weights.pivot(index="query", columns="key", values="weight")
        mesh = draw_heat(axes, grid.to_numpy(), pieces, pieces)
        axes.tick_params(labelsize=6.5)  # two panels side by side
        axes.set_aspect("equal")
        axes.set_title(f"layer {weights['layer'].iloc[0]}, head {head}", fontsize=8)
    figure.colorbar(mesh, ax=panels, label="attention weight", location="bottom", shrink=0.4, aspect=30)
    return figure
