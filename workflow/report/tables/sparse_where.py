"""In which of a translator's three attentions sparsity pays, and by which means."""

import pandas as pd

from workflow.report.tables._cells import make_cell, make_table, measured, pick, setting, take_rows
from workflow.report.tables._paired import P_VALUE_CAPTION, SOFTMAX, gain, p_value

READS = ("runs", "throughput")
TITLE = "Sparsity in encoder, decoder and cross attention"
CAPTION = (
    "Equal steps for every row, at the scale named below. Where: the attentions that have this selection and this "
    "normaliser; the others keep all keys and softmax. Differences are to softmax, mean over seeds, a run beside "
    "the run with the same seed. BLEU on test is of tokens (docs/fidelity.md); perplexity is per sub-word "
    "piece. Speeds are of target pieces, timed in turns, on one device. Comparable: rows "
    f"with each other. Nothing here is published. {P_VALUE_CAPTION}"
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
    runs, cells = pick(runs, ablation="sparse_where"), []
    base = pick(runs, variant=SOFTMAX)
    for variant, seeds in runs.groupby("label", sort=False):
        cells += _choices(variant, seeds)
        for column, quantity, unit in SCORES:
            cells.append(measured(variant, column, take_rows(seeds, quantity), quantity, unit))
        if seeds["variant"].iloc[0] != SOFTMAX:
            cells += [gain(variant, column, seeds, base, (quantity, quantity)) for column, quantity in DIFFERENCES]
            cells.append(p_value(variant, "p (paired bootstrap)", seeds, base))
    return make_table(cells)


def _choices(variant: str, runs: pd.DataFrame) -> list[dict]:
    """What the variant is: where, selection, normaliser, and k where it selects."""
    run = runs.iloc[0]
    sparse = (run["selection"], run["normaliser"]) != ("all", "softmax")
    choices = {"where": " + ".join(run["apply_to"]) if sparse else "nowhere"}
    choices |= {"selection": run["selection"], "normaliser": run["normaliser"]}
    cells = [make_cell(variant, column, choice, "", "setting", runs=runs) for column, choice in choices.items()]
    if runs["k"].notna().any():
        cells.append(setting(variant, "k", runs, "k", "keys"))
    return cells
