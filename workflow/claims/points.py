"""Read the values that claims compare, from runs and from measured layers."""

import math
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow.claims.measures import LAYERS
from workflow.results.layers import values_of
from workflow.results.registry import MEASURED_BY, SPEEDS
from workflow.results.timings import clocks, split_turns


class Point(NamedTuple):
    """A measured value. digest: of its run. turn: a seed, (reference step, round) of a timing, 0
    for a single count.
    """

    text: str
    turn: Hashable
    S: float
    value: float
    digest: str | None


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
    layers = np.array(spans).mean(1)
    half = len(spans) // 2
    lower = layers[:half].mean()
    upper = layers[-half:].mean()
    return lower / upper


def points_of_runs(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List a point for each run, each round of a timing, or each configuration if counted once."""
    if measure in SPEEDS:
        rows = split_turns(rows, measure)
        turns = zip(clocks(rows), rows["turn"], strict=True)
        values = rows["value"]
    elif measure in MEASURED_BY:
        rows = rows.drop_duplicates("configuration")
        turns = [0] * len(rows)
        values = read_measure(rows, measure)
    else:
        turns = rows["seed"]
        values = read_measure(rows, measure)
    columns = (
        rows["corpus"],
        turns,
        rows["S"],
        values.astype(float),
        rows["digest"],
    )
    points = []
    for each in zip(*columns, strict=True):
        point = Point(*each)
        if math.isfinite(point.value):
            points.append(point)
    return points


def points_of_layers(rows: pd.DataFrame, measure: str) -> list[Point]:
    """List the same points as `points_of_runs`, for measured layers."""
    points = []
    for row in rows.to_dict("records"):
        for turn, value in enumerate(values_of(row, measure)):
            if math.isfinite(value):
                points.append(Point(LAYERS, turn, row["S"], value, None))
    return points
