"""The measures of claims: registered quantities and derived ones, and their values in runs and
layers.
"""

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow.plan.claims import LAYERS
from workflow.report.tables.cells import MEASURED_BY
from workflow.report.tables.layer_costs import values_of
from workflow.results.registry import REGISTRY
from workflow.results.timings import SPEEDS, clocks, split_turns
from workflow.tasks.task import SCORED

SPANS = REGISTRY["mean_span"].tasks
DERIVED = {  # measure: title, unit, and the tasks that have it
    "span_share": ("mean span as a fraction of S", "of S", SPANS),
    "lower_over_upper_span": (
        "mean span of the lower layers relative to the upper layers",
        "×",
        SPANS,
    ),
    "longest_over_mean_span": ("longest span relative to the mean span", "×", SPANS),
    "ms": ("time of a layer", "ms", (LAYERS,)),
    "bytes": ("memory of a layer", "bytes", (LAYERS,)),
}
CLAIMABLE = {
    name: (quantity.title, quantity.unit, quantity.tasks)
    for name, quantity in REGISTRY.items()
    if quantity.claimable
} | DERIVED
UNITS = {name: unit for name, (_, unit, _) in CLAIMABLE.items()}
# measured once, without an interval: the relative difference between two processes with the same
# model, as on a CPU
COUNTED = {"memory_train_bytes": 0.2, "longest_S": 0.0, "bytes": 0.0}


class Point(NamedTuple):
    """A measured value. digest: of its run. turn: a seed, (reference step, round) of a timing, 0
    for a single count.
    """

    text: str
    turn: Hashable
    S: float
    value: float
    digest: str | None


def has_measure(task: str, measure: str) -> bool:
    """Return whether the runs of a task have a measure. task: the name of a task, or LAYERS."""
    return task in CLAIMABLE[measure][2]


def title_of_measure(measure: str) -> str:
    """Return the title of a measure."""
    return CLAIMABLE[measure][0]


def split_of(measures: Iterable[str]) -> str:
    """Return the split on which all measures are scored, `dev` or `test`; empty for a cost or a
    span.
    """
    return next(
        (split for split in SCORED if all(name.startswith(f"{split}_") for name in measures)), ""
    )


def read_measure(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Read the measure of each row; NaN if missing."""
    if measure == "span_share":
        return rows["mean_span"] / rows["S"]
    if measure == "lower_over_upper_span":
        return rows["spans"].map(_lower_over_upper)
    if measure == "longest_over_mean_span":
        return rows["max_span"] / rows["mean_span"]
    return pd.to_numeric(rows[measure])


def _lower_over_upper(spans: list[list[float]] | None) -> float:
    """Divide the mean span of the lower half of the layers by that of the upper half, without a
    middle layer.
    """
    if not isinstance(spans, list) or len(spans) < 2:
        return np.nan
    layers, half = np.array(spans).mean(1), len(spans) // 2
    return layers[:half].mean() / layers[-half:].mean()


def points_of_runs(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List a point for each run, each round of a timing, or each configuration if counted once."""
    if measure in SPEEDS:
        rows = split_turns(rows, measure)
        turns, values = zip(clocks(rows), rows["turn"], strict=True), rows["value"]
    else:
        rows = rows.drop_duplicates("configuration") if measure in MEASURED_BY else rows
        turns, values = (
            [0] * len(rows) if measure in MEASURED_BY else rows["seed"],
            read_measure(rows, measure),
        )
    columns = rows["corpus"], turns, rows["S"], values.astype(float), rows["digest"]
    points = (Point(*each) for each in zip(*columns, strict=True))
    return [point for point in points if math.isfinite(point.value)]


def points_of_layers(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List the same points as `points_of_runs`, for measured layers."""
    return [
        Point(LAYERS, turn, row["S"], value, None)
        for row in rows.to_dict("records")
        for turn, value in enumerate(values_of(row, measure))
        if math.isfinite(value)
    ]


def kind_of_pairs(measure: str) -> str:
    """Name what a pair shares besides the corpus: `seed`, `round` of a timing, or `measurement` of
    a count.
    """
    if measure in SPEEDS or measure == "ms":
        return "round"
    return "measurement" if measure in MEASURED_BY or measure in COUNTED else "seed"
