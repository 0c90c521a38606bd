"""Explicit Sparse Transformer, Figure 1: one sentence under softmax and under top-k."""

import numpy as np
import pandas as pd

from studies.explicit_sparse.figures._compared import pick_compared
from workflow.report.figures import maps

READS = ("runs", "maps")
TITLE = (
    "Self-attention of one sentence with softmax and top-k (Explicit Sparse Transformer, Figure 1)"
)
CAPTION = (
    "Self-attention of the sharpest head in the last encoder layer, for one sentence. Top-k keeps "
    "at most k keys per query."
)
NOTES = (
    "Two models, one seed. The numbers on the right are keys per query with a weight of at least "
    "0.0005. ▁ marks the start of a word. Comparable with the paper: whether top-k drops subwords. "
    "Not comparable: the sentence."
)
used = pick_compared


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the weights of the sharpest head of the last encoder layer, by place."""
    rows = []
    for run in used(runs).itertuples():
        last = maps.list_layers(run.maps, "encoder")[-1]
        heads = np.array(run.maps["encoder"][last])
        pieces = run.maps["source"]
        head = maps.find_sharpest(heads)
        kept = "" if pd.isna(run.k) else f", k = {run.k:.0f}"
        panel = f"{run.label}{kept}, encoder layer {last}, head {head + 1}"
        rows += maps.make_rows(panel, last, str(head + 1), heads[head], pieces, pieces)
    return pd.DataFrame(rows, columns=maps.COLUMNS)


def draw(data: pd.DataFrame):
    return maps.draw(data, queries="query", keys="key")
