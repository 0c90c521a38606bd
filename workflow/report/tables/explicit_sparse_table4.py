"""Explicit Sparse Transformer, Table 4: what top-k, sparsemax and entmax cost and buy in translation."""

import pandas as pd

from workflow.papers.published import load, value
from workflow.report.tables._cells import analytic, measured, once, pick, ratio, setting, table
from workflow.report.tables._paired import SOFTMAX

READS = ("runs", "throughput")
TITLE = "Sparse normalisers and top-k in translation (Explicit Sparse Transformer, Table 4)"
CAPTION = (
    "BLEU on test as in Table 1, trained at the scale named below on the texts that stand in for the corpora there. "
    "Speeds are of target pieces, of a whole update and of the net's steps in a beam (keys and values kept, rows "
    "copied as beams are; not the search itself), measured once, in turns, for De-En. "
    "Comparable: ratios to softmax; the paper's are quotients of the speeds it prints (fp16 on a GPU of 2019). "
    "Not comparable: BLEU itself and speeds. The learned alpha is the mean over heads and layers; the code released "
    "with the paper fixes it at 1.5. The paper has no En-Vi for sparsemax and entmax-alpha."
)
ROWS = [
    ("softmax", SOFTMAX, "transformer"),
    ("sparsemax", "sparsemax", "sparsemax"),
    ("entmax-1.5", "entmax15", "entmax15"),
    ("entmax-alpha, learned", "entmax_alpha", "entmaxa"),
    ("top-k", "top_k", "est"),
]
TIMED = "iwslt14-deen"
DIRECTIONS = [("En-Vi", "iwslt15-envi", "envi"), ("De-En", TIMED, "deen")]
SPEEDS = [("training", "train_tokens_per_s", "train_speed"), ("decoding", "predict_tokens_per_s", "infer_speed")]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine = pick(runs, ablation="translation_normalisers")
    base = pick(mine, variant=SOFTMAX, paper_corpus=TIMED)
    cells = []
    for label, variant, key in ROWS:
        at, stem = pick(mine, variant=variant), f"est.t4.{key}"
        timed = pick(at, paper_corpus=TIMED)
        for direction, paper_corpus, place in DIRECTIONS:
            name = f"{stem}.{place}" if f"{stem}.{place}" in load() else None
            cells.append(
                measured(label, direction, pick(at, paper_corpus=paper_corpus), "test_bleu_tokenised", "BLEU", name)
            )
        for what, column, place in SPEEDS:
            cells.append(measured(label, f"{what} speed", once(timed), column, "tokens / s", f"{stem}.{place}"))
        for what, column, place in SPEEDS:
            cells.append(ratio(label, f"{what} ratio", column, timed, base, SOFTMAX))
            theirs = value(f"{stem}.{place}") / value(f"est.t4.transformer.{place}")
            cells.append(analytic(label, f"{what} ratio, paper", theirs, "x"))
        cells += _own(label, variant, timed)
    return table(cells)


def _own(label: str, variant: str, runs: pd.DataFrame) -> list[dict]:
    """What only one of the rows has: its k, its learned alpha."""
    if variant == "top_k":
        return [setting(label, "k", runs, "k", "keys", "est.txt.k_small")]
    if variant == "entmax_alpha":
        return [measured(label, "alpha, De-En", runs.assign(mean_alpha=runs["alpha"].map(_mean)), "mean_alpha", "")]
    return []


def _mean(alpha) -> float | None:
    """Mean over the heads of all layers: alpha[layer][head]."""
    heads = [one for layer in alpha for one in layer] if isinstance(alpha, list) else []
    return sum(heads) / len(heads) if heads else None
