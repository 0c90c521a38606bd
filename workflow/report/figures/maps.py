"""Draw the attention of single heads in one sentence as heat maps, its pieces on both axes."""

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap, to_rgba

from workflow.report.figures.colours import GREY
from workflow.report.figures.marks import shows
from workflow.report.figures.panels import MapLayout
from workflow.report.figures.style import canvas, draw_message, fold

COLUMNS = ["panel", "layer", "head", "query", "key", "query_piece", "key_piece", "weight"]
NO_MAPS = (
    "no run here whose record holds attention: most of those that came with the project leave it "
    "out"
)
ROW, REST = 0.19, 1.5  # inches of height: of a query; of the title and the names of the keys
NAMED = 2.4  # inches of width of a title, between the names of queries and the numbers of keys
# With 50 levels or more the scale would be a bitmap in the SVG. One transparent blue serves light
# and dark pages: no weight leaves the page as it is, and the least weight can just be told from
# none.
BLUE = "#2f7fd0"
LEAST = 0.095
LEVELS = 40
OPACITIES = np.linspace(LEAST, 1, LEVELS)
BLUES = ListedColormap([to_rgba(BLUE, opacity) for opacity in OPACITIES]).with_extremes(bad="none")


def list_layers(maps: dict, kind: str) -> list[str]:
    """List the names of the recorded layers, bottom first."""
    return sorted(maps[kind], key=int)


def find_sharpest(heads: np.ndarray) -> int:
    """Find the head (from 0) whose rows have the highest maximum on average; heads: h T K."""
    return int(heads.max(-1).mean(-1).argmax())


def make_rows(
    panel: str, layer: str, head: str, weights: np.ndarray, queries: list[str], keys: list[str]
) -> list[dict]:
    """Return a row for each weight of T K, with the columns `COLUMNS`."""
    return [
        {
            "panel": panel,
            "layer": int(layer),
            "head": head,
            "query": query,
            "key": key,
            "query_piece": queries[query],
            "key_piece": keys[key],
            "weight": weight,
        }
        for (query, key), weight in np.ndenumerate(weights)
    ]


def draw(data: pd.DataFrame, queries: str, keys: str):
    """Draw a map per panel, one below the other, on a scale from 0 to 1.

    queries, keys: names of the axes. On the right is how many keys each query attends to: those
    whose weight, rounded to three places, is not 0.
    """
    if not len(data):
        return draw_message(NO_MAPS)
    panels = [weights for _, weights in data.groupby("panel", sort=False)]
    queries_shown = panels[0]["query"].max() + 1
    height = REST + ROW * queries_shown
    figure, axes = canvas(rows=len(panels), height=height, layout=MapLayout(), squeeze=False)
    for panel, weights in zip(axes[:, 0], panels, strict=True):
        grid = weights.pivot(index="query", columns="key", values="weight")
        values = grid.to_numpy()
        mesh = draw_heat(panel, values, _pieces(weights, "query"), _pieces(weights, "key"))
        in_order = weights.sort_values(["query", "key"])
        shows(mesh, in_order.index)
        _count_keys(panel, values)
        title = weights["panel"].iloc[0]
        panel.set_title(fold(title, NAMED))
        panel.set_xlabel(keys)
        panel.set_ylabel(queries)
    scale = figure.colorbar(mesh, ax=list(axes[:, 0]), location="bottom", aspect=40, pad=0.01)
    scale.set_label("weight")
    return figure


def _pieces(weights: pd.DataFrame, side: str) -> list[str]:
    """List the subwords of one axis in order. side: query | key."""
    once = weights.drop_duplicates(side)
    return once.sort_values(side)[f"{side}_piece"].tolist()


def _count_keys(axes, weights: np.ndarray) -> None:
    """Write at the end of each row of T K how many of its weights are not 0."""
    counts = (weights > 0).sum(axis=1)
    right = weights.shape[1] + 0.3
    for place, text in enumerate(["keys", *map(str, counts)]):
        axes.text(right, place - 0.5, text, va="center", color=GREY)


def draw_heat(axes, weights: np.ndarray, rows: list[str], columns: list[str]):
    """Draw weights T K on a scale from 0 to 1, queries downwards and keys to the right.

    On this scale attention that is spread evenly is pale.
    """
    seen = np.ma.masked_less_equal(weights, 0)
    mesh = axes.pcolormesh(seen, cmap=BLUES, vmin=0, vmax=1, edgecolors=GREY, linewidth=0.1)
    # a piece is named at the middle of its row or column
    row_middles = np.arange(len(rows)) + 0.5
    column_middles = np.arange(len(columns)) + 0.5
    axes.set_yticks(row_middles, rows, parse_math=False)
    axes.set_xticks(column_middles, columns, rotation=90, parse_math=False)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.grid(False)
    return mesh
