"""Read the layers of Attention Is All You Need, Table 1, as `scripts.layers` measured them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the plan reads LABELS, and must not import pandas
    import pandas as pd

LABELS = {
    "self": "Self-Attention",
    "rnn": "Recurrent",
    "conv": "Convolutional",
    "local": "Self-Attention (restricted)",
}


def exponent(n: Iterable[float], values: Iterable[float]) -> float | None:
    """Fit p of values = c n^p, by least squares in the logarithms.

    None where positive values have no two n.
    """
    xs = []
    ys = []
    for length, value in zip(n, values, strict=True):
        if value > 0:
            xs.append(math.log(length))
            ys.append(math.log(value))
    if len(set(xs)) < 2:
        return None
    mean_x = sum(xs) / len(xs)
    mean_y = sum(ys) / len(ys)
    products = []
    squares = []
    for x, y in zip(xs, ys, strict=True):
        products.append((x - mean_x) * (y - mean_y))
        squares.append((x - mean_x) ** 2)
    return sum(products) / sum(squares)


def values_of(layer: dict, quantity: str) -> list[float]:
    """List the time of each turn; of memory, or of a time without turns, the one value."""
    turns = layer["turns"] if quantity == "ms" else None
    if isinstance(turns, list) and turns:
        return list(turns)
    return [float(layer[quantity])]


def commits(layers: pd.DataFrame) -> list[str]:
    """List the commits of the source that measured the layers."""
    return sorted(layers["commit"].dropna().unique())


def origin(layers: pd.DataFrame) -> str:
    """Describe in one line how the layers were measured."""
    if not len(layers):
        return "layers were not measured"
    of_layers = sorted(layers["d"].unique())
    widths = ", ".join(map(str, of_layers))
    rounds = layers["rounds"].dropna()
    timed = "not timed"
    if len(rounds):
        fewest = rounds.min()
        most = rounds.max()
        timed = f"{fewest:.0f} to {most:.0f} steps in interleaved rounds"
    devices = ", ".join(sorted(layers["device"].unique()))
    return f"{devices}; d = {widths}; one sequence, one thread; {timed}"
