"""Explicit Sparse Transformer, Figure 1: one sentence under softmax and under top-k."""

import numpy as np
import pandas as pd

from workflow.report.figures import _maps

READS = ("runs",)
TITLE = "One sentence under softmax and under top-k (Explicit Sparse Transformer, Figure 1)"
CAPTION = (
    "Self-attention of the last encoder layer, mean over its heads, for the first test sentence of fitting length; "
    "two nets, one seed. ▁ begins a word. Each head of the lower net keeps its k largest scores; their mean can lie on "
    "more pieces. Comparable with the paper: that top-k leaves pieces out; not the sentence, which is another."
)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return _maps.pick_compared(runs)


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """panel, layer, head ("mean"), query, key (places), query_piece, key_piece, weight."""
    rows = []
    for run in used(runs).itertuples():
        last = _maps.list_layers(run.maps, "encoder")[-1]
        mean = np.array(run.maps["encoder"][last]).mean(0)
        panel = f"{_maps.NAMES[run.variant]}, encoder layer {last}"
        rows += _maps.make_rows(panel, last, "mean", mean, run.maps["source"], run.maps["source"])
    return pd.DataFrame(rows, columns=_maps.COLUMNS)


def draw(data: pd.DataFrame):
    return _maps.draw(data, queries="looks (query)", keys="is looked at (key)")
