"""Explicit Sparse Transformer, section 4.2: what a captioner looks at, with all keys and with the k largest."""

import base64
import textwrap

import numpy as np
import pandas as pd

from workflow.report.figures._maps import BLUES, NAMES, compared
from workflow.report.figures._style import WIDTH, canvas, nothing

READS = ("runs",)
TITLE = "Pictures, captions and where they were looked for (Explicit Sparse Transformer, section 4.2)"
CAPTION = (
    "Test pictures with the captions that both nets wrote, one seed; beside each, for the three pieces whose attention "
    "is sharpest, the weights of the top layer on the patches of the picture, mean over heads, each map on a scale of "
    "its own from 0. ▁ begins a word. The paper shows none of this; compare how far the weights spread."
)
COLUMNS = ["picture", "variant", "caption", "place", "piece", "row", "column", "weight", "red", "green", "blue"]
PICTURES, PIECES = 2, 3


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return compared(runs, "captioning", "looks")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """A line per weight of a shown piece, and per pixel of a picture, whose piece and weight are missing."""
    found = []
    for run in used(runs).itertuples():
        for look in [one for one in run.looks if one["pixels"] and one["pieces"]][:PICTURES]:
            caption = "".join(look["pieces"]).replace("▁", " ").strip()
            stands = {"picture": look["name"], "variant": run.variant, "caption": caption}
            found += [stands | one for one in _pixels(look["pixels"])]
            found += [stands | one for one in _weights(look)]
    return pd.DataFrame(found, columns=COLUMNS)


def _pixels(told: dict) -> list[dict]:
    side = told["side"]
    rgb = np.frombuffer(base64.b64decode(told["rgb"]), np.uint8).reshape(side * side, 3)
    colours = ("red", "green", "blue")
    return [
        {"row": n // side, "column": n % side, **dict(zip(colours, one.tolist(), strict=True))}
        for n, one in enumerate(rgb)
    ]


def _weights(look: dict) -> list[dict]:
    """Of the pieces whose largest weight is largest, in the order they were written."""
    weights = np.array(look["weights"])
    side = round(weights.shape[1] ** 0.5)
    chosen = sorted(np.argsort(-weights.max(1), kind="stable")[:PIECES])
    return [
        {"place": int(n), "piece": look["pieces"][n], "row": j // side, "column": j % side, "weight": weight}
        for n in chosen
        for j, weight in enumerate(weights[n])
    ]


def draw(data: pd.DataFrame):
    """A line of panels for each picture and net: the picture under its caption, then a map for each piece."""
    if not len(data):
        return nothing("no picture that both softmax and top-k have described")
    lines = list(data.groupby(["picture", "variant"], sort=False))
    lines.sort(key=lambda one: list(data["picture"].unique()).index(one[0][0]))
    size = WIDTH / (1 + PIECES)
    figure, axes = canvas(1 + PIECES, rows=len(lines), width=size, height=size * 1.25, squeeze=False)
    for row, ((_, variant), one) in zip(axes, lines, strict=True):
        row[0].imshow(_grid(one[one["weight"].isna()], ["red", "green", "blue"]) / 255, interpolation="nearest")
        row[0].set_title(textwrap.fill(f"{NAMES[variant]}: {one['caption'].iloc[0]}", 26), fontsize=7, parse_math=False)
        for panel, (_, piece) in zip(row[1:], one.dropna(subset=["weight"]).groupby("place"), strict=False):
            panel.imshow(_grid(piece, ["weight"])[..., 0], cmap=BLUES, vmin=0, interpolation="nearest")
            panel.set_title(piece["piece"].iloc[0], fontsize=9, parse_math=False)
        for panel in row:
            panel.set_axis_off()
    return figure


def _grid(lines: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """H W c from lines with row and column."""
    ordered = lines.sort_values(["row", "column"])
    side = int(ordered["row"].max()) + 1
    return ordered[columns].to_numpy(float).reshape(side, -1, len(columns))
