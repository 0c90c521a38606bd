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
    points = [(math.log(x), math.log(y)) for x, y in zip(n, values, strict=True) if y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in points)
    variance = sum((x - mean_x) ** 2 for x, _ in points)
    return covariance / variance


def values_of(layer: dict, quantity: str) -> list[float]:
    """List the time of each turn; of memory, or of a time without turns, the one value."""
    turns = layer["turns"] if quantity == "ms" else None
    return list(turns) if isinstance(turns, list) and turns else [float(layer[quantity])]


def commits(layers: pd.DataFrame) -> list[str]:
    """List the commits of the source that measured the layers."""
    return sorted(layers["commit"].dropna().unique())


def origin(layers: pd.DataFrame) -> str:
    """Describe in one line how the layers were measured."""
    if not len(layers):
        return "layers were not measured"
    widths = ", ".join(map(str, sorted(layers["d"].unique())))
    rounds = layers["rounds"].dropna()
    timed = "not timed"
    if len(rounds):
        timed = f"{rounds.min():.0f} to {rounds.max():.0f} steps in interleaved rounds"
    devices = ", ".join(sorted(layers["device"].unique()))
    return f"{devices}; d = {widths}; one sequence, one thread; {timed}"
