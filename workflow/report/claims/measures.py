"""What a claim may be about: registered quantities and what is computed from them, with their units."""

import numpy as np
import pandas as pd

from workflow.results.registry import REGISTRY

LAYERS = "layers"  # in place of an ablation: layers that were measured without a run
SPANS = REGISTRY["mean_span"].tasks
DERIVED = {  # measure: unit, and the tasks that have it
    "span_share": ("of S", SPANS),
    "lower_over_upper_span": ("x", SPANS),
    "longest_over_mean_span": ("x", SPANS),
    "ms": ("ms", (LAYERS,)),
    "bytes": ("bytes", (LAYERS,)),
}
CLAIMABLE = {
    name: (quantity.unit, quantity.tasks) for name, quantity in REGISTRY.items() if quantity.claimable
} | DERIVED
UNITS = {name: unit for name, (unit, _) in CLAIMABLE.items()}
COUNTED = ("memory_train_bytes", "longest_S", "bytes")  # not sampled: they have no interval and need none


def has_measure(task: str, measure: str) -> bool:
    """task: or LAYERS."""
    return task in CLAIMABLE[measure][1]


def read_measure(rows: pd.DataFrame, measure: str) -> pd.Series:
    """The measure of each row; NaN where it is missing."""
    if measure == "span_share":
        return rows["mean_span"] / rows["S"]
    if measure == "lower_over_upper_span":
        return rows["spans"].map(_lower_over_upper)
    if measure == "longest_over_mean_span":
        return rows["max_span"] / rows["mean_span"]
    return pd.to_numeric(rows[measure])


def _lower_over_upper(spans: list[list[float]] | None) -> float:
    """Mean span of the heads in the lower half of the layers over that in the upper half; a middle one is left out."""
    if not isinstance(spans, list) or len(spans) < 2:
        return np.nan
    layers, half = np.array(spans).mean(1), len(spans) // 2
    return layers[:half].mean() / layers[-half:].mean()
