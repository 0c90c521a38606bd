"""In which of a translator's three attentions sparsity pays, and by which means."""

import pandas as pd

from workflow.report.tables._cells import behind, cell, measured, pick, setting, table
from workflow.report.tables._paired import CHANCE, SOFTMAX, chance, gain

READS = ("runs", "throughput")
TITLE = "Sparsity in encoder, decoder and cross attention"
CAPTION = (
    "Equal steps for every row, at the scale named below. Where: the attentions that have this selection and this "
    "normaliser; the others keep all keys and softmax. Differences are to softmax, mean over seeds, a run beside "
    "the run with the same seed. BLEU on test is of tokens (docs/fidelity.md); perplexity is per sub-word "
    "piece. Speeds are of target pieces, measured once per cell, in turns, on this device. Comparable: rows "
    f"with each other. Nothing here is published. {CHANCE}"
)
SCORES = [
    ("test", "test_bleu_tokenised", "BLEU"),
    ("test, sacreBLEU", "test_bleu", "BLEU"),
    ("test, perplexity", "test_ppl", "ppl"),
    ("training speed", "train_tokens_per_s", "tokens / s"),
    ("decoding speed", "predict_tokens_per_s", "tokens / s"),
]
DIFFERENCES = [("difference", "test_bleu_tokenised"), ("difference, sacreBLEU", "test_bleu")]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="sparse_where"), []
    base = pick(mine, variant=SOFTMAX)
    for variant in mine["variant"].unique():
        at = pick(mine, variant=variant)
        cells += _choice(variant, at)
        cells += [measured(variant, column, behind(at, what), what, unit) for column, what, unit in SCORES]
        if variant != SOFTMAX:
            cells += [gain(variant, column, at, base, (what, what)) for column, what in DIFFERENCES]
            cells.append(chance(variant, "p (paired bootstrap)", at, base))
    return table(cells)


def _choice(variant: str, runs: pd.DataFrame) -> list[dict]:
    """What the variant is: where, selection, normaliser, and k where it selects."""
    one = runs.iloc[0]
    sparse = (one["selection"], one["normaliser"]) != ("all", "softmax")
    told = {"where": " + ".join(one["apply_to"]) if sparse else "nowhere"}
    told |= {"selection": one["selection"], "normaliser": one["normaliser"]}
    cells = [cell(variant, column, text, "", "setting", runs=runs) for column, text in told.items()]
    if runs["k"].notna().any():
        cells.append(setting(variant, "k", runs, "k", "keys"))
    return cells
