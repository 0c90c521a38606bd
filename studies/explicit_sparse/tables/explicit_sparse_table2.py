"""Explicit Sparse Transformer, Table 2: image captioning, top-k compared with softmax."""

import pandas as pd

from workflow.claims.published import load
from workflow.report.tables.cells import cited, make_table, measured, pick, setting
from workflow.report.tables.paired import SOFTMAX, cider, gain, p_value

READS = ("runs",)
TITLE = "Image captioning (Explicit Sparse Transformer, Table 2)"
CAPTION = (
    "BLEU-4, METEOR and CIDEr on test images with all references, × 100 (docs/fidelity.md). We "
    "train our two rows at this scale, on the dataset named with the table. Our encoder reads "
    "pixels; the paper's reads unspecified features. Comparable: the difference between top-k and "
    "softmax, paired by seed. Not comparable: the scores. METEOR is computed by the Java program, "
    "as in the paper; NLTK's version, without synonyms, has its own column. p: paired bootstrap of "
    "CIDEr over test images (1,000 resamples per pair of seeds). We show the largest p, or 1 if "
    "the seeds disagree on the sign."
)
SCORES = [
    ("BLEU-4", "bleu_4", "bleu4"),
    ("METEOR", "meteor", "meteor"),
    ("CIDEr", "cider", "cider"),
]
OTHER_SCORES = [
    ("ROUGE-L", "rouge_l"),
    ("BLEU-1", "bleu_1"),
    ("BLEU-2", "bleu_2"),
    ("BLEU-3", "bleu_3"),
]
NLTK = ("METEOR (nltk)", "meteor_nltk")  # if the scale requests it
OTHERS = ["sat", "scst", "nbt", "adaatt", "arnn", "updown"]
TRAINED = [("transformer", SOFTMAX), ("est", "top_k")]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="captioning")
    cells = []
    for key in OTHERS:
        for column, _, end in SCORES:
            cells.append(cited(_label(key), column, f"est.t2.{key}.{end}", column))
    base = pick(runs, variant=SOFTMAX)
    nltk = [NLTK] if runs["test_meteor_nltk"].notna().any() else []
    gains = [("BLEU-4", "bleu_4"), ("CIDEr", "cider"), *(nltk or [("METEOR", "meteor")])]
    for key, variant in TRAINED:
        label = _label(key)
        seeds = pick(runs, variant=variant)
        for column, name, end in SCORES:
            published = f"est.t2.{key}.{end}"
            cells.append(measured(label, column, seeds, f"test_{name}", published, unit=column))
        for column, name in (*nltk, *OTHER_SCORES):
            cells.append(measured(label, column, seeds, f"test_{name}", unit=column))
        if variant != SOFTMAX:
            cells.append(setting(label, "k", seeds, "k", unit="keys"))
            for column, name in gains:
                quantities = (f"test_{name}", f"test_{name}")
                cells.append(gain(label, f"{column}, gain", seeds, base, quantities, column))
            cells.append(p_value(label, "CIDEr, p (paired bootstrap)", seeds, base, cider))
    return make_table(cells)


def _label(key: str) -> str:
    return load()[f"est.t2.{key}.cider"].row
