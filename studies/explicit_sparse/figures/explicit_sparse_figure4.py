"""Explicit Sparse Transformer, Figure 4: attention to the source, bottom and top decoder layer."""

import numpy as np
import pandas as pd

from studies.explicit_sparse.figures._compared import pick_compared
from workflow.report.figures import maps

READS = ("runs", "maps")
TITLE = "Cross-attention in the bottom and top layer (Explicit Sparse Transformer, Figure 4)"
CAPTION = (
    "Attention of the decoder to the source in the bottom and the top layer, for one sentence. "
    "Each map is the layer's sharpest head."
)
NOTES = (
    "Two models, one seed; the translation is given. The numbers on the right are keys per query. "
    "▁ marks the start of a word. Comparable with the paper: how many subwords each row attends "
    "to. Not comparable: the sentence."
)
used = pick_compared


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the weights of the sharpest head of each layer by place, bottom layer first."""
    panels = []
    for run in used(runs).itertuples():
        for depth, layer in enumerate(maps.list_layers(run.maps, "cross")):
            heads = np.array(run.maps["cross"][layer])
            head = maps.find_sharpest(heads)
            panel = f"{run.label}, decoder layer {layer}, head {head + 1}"
            rows = maps.make_rows(
                panel, layer, str(head + 1), heads[head], run.maps["target"], run.maps["source"]
            )
            panels.append((depth, rows))
    panels.sort(key=lambda panel: panel[0])
    rows = [row for _, of_panel in panels for row in of_panel]
    return pd.DataFrame(rows, columns=maps.COLUMNS)


def draw(data: pd.DataFrame):
    return maps.draw(data, queries="target", keys="source")
