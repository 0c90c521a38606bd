"""Attention Is All You Need, Figures 3 to 5: what encoder heads attend to in one sentence."""

import math

import numpy as np
import pandas as pd

from workflow.report.figures.colours import INK
from workflow.report.figures.maps import NO_MAPS, list_layers
from workflow.report.figures.marks import shows
from workflow.report.figures.style import canvas, draw_message, pick_holding
from workflow.report.tables.cells import pick

READS = ("runs", "maps")
TITLE = "Attention of the sharpest encoder heads (Attention Is All You Need, Figures 3 to 5)"
CAPTION = (
    "Attention of the sharpest encoder heads in one sentence, from each query on the left to its "
    "keys on the right. Thicker lines are larger weights."
)
NOTES = (
    "The heads with the lowest mean entropy of all recorded layers, in the base model's first "
    "seed. Weights below 5 % are left out. The title names what receives over half of a head's "
    "weight, or else its largest weight. Comparable with the paper: whether heads specialise. Not "
    "comparable: which heads; model, corpus and sentence differ."
)
COLUMNS = ["layer", "head", "query", "key", "query_piece", "key_piece", "weight"]
SHOWN = 4  # heads
MOST = 0.5  # of the weight
SEEN = 0.05  # of the weight of a query: thinner lines are left out
DIAGONALS = {-1: "the word before", 0: "the word itself", 1: "the next word"}


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """Pick the first seed of the base model whose record has maps."""
    runs = pick(runs, question="transformer", paper_corpus="wmt14-ende", status="ok")
    base = pick_holding(pick(runs, variant="base"), "maps")
    has_maps = base["maps"].map(bool).astype(bool)
    return base[has_maps].sort_values("seed").head(1)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the weights of each shown head, sharpest first; heads and places count from 1."""
    maps = next(iter(used(runs)["maps"]), None)
    if maps is None:
        return pd.DataFrame(columns=COLUMNS)
    heads = []
    for layer in list_layers(maps, "encoder"):
        for head, weights in enumerate(np.array(maps["encoder"][layer]), start=1):
            heads.append((int(layer), head, weights))
    heads.sort(key=lambda each: entropy(each[-1]))
    pieces = [piece.removeprefix("▁") for piece in maps["source"]]
    rows = []
    for layer, head, weights in heads[:SHOWN]:
        for (query, key), weight in np.ndenumerate(weights):
            row = (layer, head, query + 1, key + 1, pieces[query], pieces[key], weight)
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def entropy(weights: np.ndarray) -> float:
    """Compute the entropy of weights T K in bits, mean over queries.

    It is 0 where each query attends to one key alone.
    """
    logarithms = np.log2(np.where(weights > 0, weights, 1))  # 0 log 0 = 0
    return float(-(weights * logarithms).sum(1).mean())


def say_focus(weights: np.ndarray, pieces: list[str]) -> str:
    """Describe what a head attends to: a neighbour, one word, or else its largest weight.

    weights: T T, queries by keys.
    """
    shares = {name: np.diag(weights, offset).mean() for offset, name in DIAGONALS.items()}
    for piece, share in zip(pieces, weights.mean(0), strict=True):
        shares[f"{_quote(piece)} from every word"] = share
    name = max(shares, key=shares.get)
    if shares[name] > MOST:
        return f"attends to {name} ({100 * shares[name]:.0f} %)"
    query, key = np.unravel_index(weights.argmax(), weights.shape)
    share = f"{100 * weights[query, key]:.0f} %"
    return f"{_quote(pieces[query])} attends to {_quote(pieces[key])} ({share})"


def _quote(piece: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{piece}\N{RIGHT DOUBLE QUOTATION MARK}"


def draw(data: pd.DataFrame):
    if not len(data):
        return draw_message(NO_MAPS)
    heads = list(data.groupby(["layer", "head"], sort=False))
    height = 0.7 + 0.19 * data["query"].max()
    rows_of_panels = math.ceil(len(heads) / 2)
    figure, panels = canvas(2, height=height, rows=rows_of_panels, squeeze=False)
    for axes in panels.flat[len(heads) :]:
        axes.axis("off")
    for axes, ((layer, head), rows) in zip(panels.flat, heads, strict=False):
        pieces = rows.drop_duplicates("query")["query_piece"].tolist()
        weights = rows["weight"].to_numpy().reshape(len(pieces), -1)
        _draw_arcs(axes, weights, pieces, rows.index[0])
        axes.set_title(f"layer {layer}, head {head}\n{say_focus(weights, pieces)}")
    return figure


def _draw_arcs(axes, weights: np.ndarray, pieces: list[str], first: int) -> None:
    """Draw the words twice, in two columns, and a line between them for each weight above `SEEN`.

    first: the row of the first weight in the numbers.
    """
    for row, ((query, key), weight) in enumerate(np.ndenumerate(weights), first):
        if weight > SEEN:
            opacity = min(1.0, 0.1 + weight)
            arc = axes.plot((0, 1), (query, key), color=INK, lw=3 * weight, alpha=opacity)
            shows(arc, [row, row])  # a row for each of its two points
    axes.set_yticks(range(len(pieces)), pieces, parse_math=False)
    axes.tick_params(axis="y", length=0, labelright=True)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(pieces) - 0.5, -0.5)
    axes.set_xticks([])
    axes.grid(False)
    axes.spines[:].set_visible(False)
