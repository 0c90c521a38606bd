"""What a claim may be about: registered quantities, what follows from them, and in which unit."""

import numpy as np
import pandas as pd

from workflow.results.registry import REGISTRY

APART = "layers"  # in place of an ablation: the layers that were measured apart from any run
SPANS = REGISTRY["mean_span"].tasks
DERIVED = {  # measure: unit, and the tasks that have it
    "span_share": ("of S", SPANS),
    "lower_over_upper_span": ("x", SPANS),
    "longest_over_mean_span": ("x", SPANS),
    "ms": ("ms", (APART,)),
    "bytes": ("bytes", (APART,)),
}
CLAIMABLE = {
    name: (quantity.unit, quantity.tasks) for name, quantity in REGISTRY.items() if quantity.claimable
} | DERIVED
UNITS = {name: unit for name, (unit, _) in CLAIMABLE.items()}
COUNTED = ("memory_train_bytes", "longest_S", "bytes")  # not sampled: they have no interval, and need none
TURNS = {"train_tokens_per_s": "train", "predict_tokens_per_s": "predict"}  # timed in turns, side by side


def measured_of(measure: str, task: str) -> bool:
    return task in CLAIMABLE[measure][1]


def of(rows: pd.DataFrame, measure: str) -> pd.Series:
    """The measure of each row; NaN where it is not there."""
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


def by_turns(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Once per cell, a row for each turn that it had beside the others; one row where turns were not kept."""
    kind = TURNS[measure]
    once = rows.drop_duplicates("configuration")
    turns = [turns if isinstance(turns, list) and turns else [ms] for turns, ms in _timed(once, kind)]
    made = once.assign(turn=[list(range(len(one))) for one in turns], took=turns).explode(["turn", "took"])
    work = made[measure] * made[f"{kind}_ms"]  # pieces, in thousands
    return made.assign(value=pd.to_numeric(work / made["took"].astype(float)))


def _timed(rows: pd.DataFrame, kind: str):
    return zip(rows[f"{kind}_turns"], rows[f"{kind}_ms"], strict=True)
