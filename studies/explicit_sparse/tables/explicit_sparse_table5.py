"""Explicit Sparse Transformer, Table 5: top-k in training alone, and in training and decoding."""

import pandas as pd

from workflow.claims.published import value
from workflow.report.tables.cells import analytic, make_table, measured, pick, setting
from workflow.report.tables.paired import SOFTMAX, gain

READS = ("runs",)
TITLE = "Top-k in training and in decoding (Explicit Sparse Transformer, Table 5)"
CAPTION = (
    "Tokenised BLEU on dev (the paper's validation set), and sacreBLEU of the same outputs. T and "
    "T&P are the same models, trained with top-k: T decodes with all keys, T&P with top-k. "
    "Comparable: differences from the base, paired by seed. Not comparable: BLEU; the paper uses "
    "IWSLT15 En-Vi, we train at this scale on the dataset named with the table."
)
ROWS = [
    ("Base (softmax)", SOFTMAX, "", "est.t5.base"),
    ("T (top-k in training)", "top_k", "_every_key", "est.t5.t"),
    ("T&P (top-k in training and prediction)", "top_k", "", "est.t5.tp"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="translation", paper_corpus="iwslt15-envi")
    cells = []
    base = pick(runs, variant=SOFTMAX)
    for label, variant, decoding, key in ROWS:
        seeds = pick(runs, variant=variant)
        quantity = f"dev_bleu_tokenised{decoding}"
        cells.append(measured(label, "dev", seeds, quantity, key))
        if variant != SOFTMAX:
            cells.append(gain(label, "gain", seeds, base, (quantity, "dev_bleu_tokenised")))
            published = round(value(key) - value("est.t5.base"), 1)
            cells.append(analytic(label, "gain, paper", published, "BLEU"))
        cells.append(measured(label, "dev, sacreBLEU", seeds, f"dev_bleu{decoding}"))
        if variant != SOFTMAX:
            cells.append(setting(label, "k", seeds, "k", "est.txt.k_small", unit="keys"))
    return make_table(cells)
