"""Attention Is All You Need, Table 4: F1 of constituency parsing."""

import pandas as pd

from workflow.claims.published import find
from workflow.report.tables.cells import cited, make_table, measured, pick, setting
from workflow.report.tables.paired import SOFTMAX, f1, gain, p_value

READS = ("runs",)
TITLE = "Constituency parsing (Attention Is All You Need, Table 4)"
CAPTION = (
    "Labelled bracket F1 (docs/fidelity.md). As in the paper, the model translates words into a "
    "linearised tree, with the model size and treebank of this scale; trees of Python statements "
    "come from Python's parser. The rows top-k and adaptive span are ours. Comparable: their "
    "difference from softmax. Not comparable: F1. Repaired: percentage of outputs that were not "
    "valid trees over the input words. p: paired bootstrap over test sentences (1,000 resamples "
    "per pair of seeds). We show the largest p, or 1 if the seeds disagree on the sign."
)
PRINTED = ["vk", "petrov", "zhu", "dyer", "zhu_s", "huang", "mcclosky", "vk_s", "luong", "dyer_g"]
TRAINED = {"softmax": "ai.t4.tr_wsj", "top_k": None, "adaptive": None}
LABELS = {"top_k": "top-k", "adaptive": "adaptive span in the encoder"}
OTHER_SCORES = [
    ("recall", "recall"),
    ("precision", "precision"),
    ("complete match", "complete"),
    ("tagging", "tagging"),
]
OTHER_SCORES += [("repaired", "repaired"), ("error sentences", "errors")]


def name_rows(runs: pd.DataFrame) -> dict[str, str]:
    """Name the Transformer by the layers of our models, where these are not the paper's."""
    layers = sorted({int(layers) for layers in pick(runs, variant=SOFTMAX)["layers"].dropna()})
    if not layers:
        return {}
    numbers = " or ".join(map(str, layers))
    return {find("ai.t4.tr_wsj").row: f"Transformer ({numbers} layers)"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    """Build the paper's rows, then ours, with recall, precision and other scores next to F1."""
    runs = pick(runs, question="parsing")
    cells = []
    for key in PRINTED:
        f1_cited = find(f"ai.t4.{key}")
        cells.append(cited(f1_cited.row, f1_cited.column, f1_cited.id, "F1"))
    transformer = find("ai.t4.tr_wsj")
    base = pick(runs, variant=SOFTMAX)
    for variant, published in TRAINED.items():
        label = LABELS.get(variant, transformer.row)
        seeds = pick(runs, variant=variant)
        cells.append(measured(label, transformer.column, seeds, "test_f1", published))
        if variant == SOFTMAX:
            semi = find("ai.t4.tr_semi")
            reason = "17 million additional sentences, not used here"
            cells.append(cited(label, semi.column, semi.id, "F1", reason))
        else:
            cells.append(gain(label, "gain", seeds, base, ("test_f1", "test_f1")))
            cells.append(p_value(label, "p (paired bootstrap)", seeds, base, f1))
        cells += [measured(label, column, seeds, f"test_{name}") for column, name in OTHER_SCORES]
        cells.append(setting(label, "#params", seeds, "parameters"))
    return make_table(cells)
