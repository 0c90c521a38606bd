"""What a claim may be about: columns of the frame, what follows from them, and in which unit."""

import numpy as np
import pandas as pd

UNITS = {
    "dev_bpc": "bpc",
    "test_bpc": "bpc",
    "dev_ppl": "",
    "test_ppl": "",
    "dev_bleu": "BLEU",
    "test_bleu": "BLEU",
    "test_bleu_every_key": "BLEU",
    "test_cider": "CIDEr",
    "test_bleu_4": "BLEU-4",
    "test_f1": "F1",
    "mean_span": "characters",
    "max_span": "characters",
    "macs_executed": "multiply-adds",
    "memory_train_bytes": "bytes",
    "longest_S": "characters",
    "train_tokens_per_s": "tokens / s",
    "predict_tokens_per_s": "tokens / s",
    "ms": "ms",
    "bytes": "bytes",
}
DERIVED = {"span_share": "of S", "lower_over_upper_span": "x", "longest_over_mean_span": "x"}
MEASURES = UNITS | DERIVED
COUNTED = ("memory_train_bytes", "longest_S", "bytes")  # not sampled: they have no interval, and need none
OF_SPANS = (*DERIVED, "mean_span", "max_span", "macs_executed", *COUNTED)  # what learned spans decide
TURNS = {"train_tokens_per_s": "train", "predict_tokens_per_s": "predict"}  # timed in turns: cells side by side


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
    once = rows.drop_duplicates("cell")
    turns = [turns if isinstance(turns, list) and turns else [ms] for turns, ms in _timed(once, kind)]
    made = once.assign(turn=[list(range(len(one))) for one in turns], took=turns).explode(["turn", "took"])
    work = made[measure] * made[f"{kind}_ms"]  # pieces, in thousands
    return made.assign(value=pd.to_numeric(work / made["took"].astype(float)))


def _timed(rows: pd.DataFrame, kind: str):
    return zip(rows[f"{kind}_turns"], rows[f"{kind}_ms"], strict=True)
