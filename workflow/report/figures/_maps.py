"""Attention of one sentence as heat maps with its pieces on both axes, for the figures that look at single heads."""

import numpy as np
import pandas as pd
from matplotlib import colormaps

from workflow.report.figures._colours import GREY
from workflow.report.figures._style import WIDTH, canvas, holding, nothing
from workflow.report.tables._cells import pick

COLUMNS = ["panel", "layer", "head", "query", "key", "query_piece", "key_piece", "weight"]
NAMES = {"softmax": "softmax", "top_k": "top-k"}
SIZE = 11  # points: panels stand one below the other, so that a phone, half as wide as a page, leaves text readable
ROW, REST = 0.27, 1.6  # inches of height: of a query; of title and names of the keys
BLUES = colormaps["Blues"].resampled(40)  # from 50 levels on the scale would be a bitmap in the SVG


def compared(runs: pd.DataFrame, ablation: str = "translation", fact: str = "maps") -> pd.DataFrame:
    """The runs of `NAMES` that show the same in a fact: one text, one seed, the first that all of them have."""
    good = holding(pick(runs, ablation=ablation, status="ok"), fact)
    good = good[good[fact].map(len) > 0]
    for _, group in good.sort_values(["paper_corpus", "seed"]).groupby(["paper_corpus", "seed"], sort=False):
        if set(NAMES) <= set(group["variant"]):
            return group[group["variant"].isin(NAMES)].sort_values(
                "variant", key=lambda one: one.map(list(NAMES).index)
            )
    return runs.head(0)


def layers(maps: dict, kind: str) -> list[str]:
    """Names of the recorded layers, bottom first."""
    return sorted(maps[kind], key=int)


def sharpest(heads: np.ndarray) -> int:
    """The head (from 0) whose rows have the highest maximum on average; heads: h T K."""
    return int(heads.max(-1).mean(-1).argmax())


def rows(panel: str, layer: str, head: str, weights: np.ndarray, queries: list[str], keys: list[str]) -> list[dict]:
    """A line for each weight of T K, in the columns `COLUMNS`."""
    return [
        dict(zip(COLUMNS, (panel, int(layer), head, i, j, queries[i], keys[j], weight), strict=True))
        for (i, j), weight in np.ndenumerate(weights)
    ]


def draw(data: pd.DataFrame, queries: str, keys: str):
    """A map per panel, one below the other, on one scale; queries and keys name the axes."""
    if not len(data):
        return nothing("no sentence that both softmax and top-k have looked at")
    panels = [one for _, one in data.groupby("panel", sort=False)]
    height = REST + ROW * (panels[0]["query"].max() + 1)
    figure, axes = canvas(rows=len(panels), width=WIDTH, height=height, squeeze=False)
    for axis, one in zip(axes[:, 0], panels, strict=True):
        grid = one.pivot(index="query", columns="key", values="weight")
        names = [one.drop_duplicates(side).sort_values(side)[f"{side}_piece"].tolist() for side in ("query", "key")]
        mesh = heat(axis, grid.to_numpy(), *names, top=data["weight"].max())
        axis.set_title(one["panel"].iloc[0], fontsize=SIZE + 1)
        axis.set_xlabel(keys, fontsize=SIZE)
        axis.set_ylabel(queries, fontsize=SIZE)
    scale = figure.colorbar(mesh, ax=list(axes[:, 0]), location="bottom", aspect=40, pad=0.01)
    scale.set_label("weight", fontsize=SIZE)
    scale.ax.tick_params(labelsize=SIZE)
    return figure


def heat(axes, weights: np.ndarray, rows: list[str], columns: list[str], top: float = 1.0):
    """Weights T K on a scale from 0 to `top`; queries downwards, keys to the right, each with its piece."""
    mesh = axes.pcolormesh(weights, cmap=BLUES, vmin=0, vmax=top, edgecolors=GREY, linewidth=0.1)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=SIZE, parse_math=False)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns, fontsize=SIZE, rotation=90, parse_math=False)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.grid(False)
    return mesh
