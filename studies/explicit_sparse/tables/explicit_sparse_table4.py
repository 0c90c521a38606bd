"""Explicit Sparse Transformer, Table 4: top-k, sparsemax and entmax in translation."""

import pandas as pd

from workflow.claims.published import load, value
from workflow.report.tables.cells import (
    Cell,
    analytic,
    make_table,
    measured,
    pick,
    ratio,
    setting,
    take_cost_row,
)
from workflow.report.tables.paired import SOFTMAX

READS = ("runs", "throughput")
TITLE = "Sparse normalisers and top-k in translation (Explicit Sparse Transformer, Table 4)"
CAPTION = (
    "Test BLEU as in Table 1, trained at this scale on the datasets named with the table. Speeds "
    "are in target subwords on the dataset used for IWSLT14 De-En, timed in interleaved rounds: a "
    "full update, and the model's steps in beam search without the search itself. Ratios with "
    "library: the same model with sorting and bisection from the entmax library, as in the paper. "
    "All other ratios use our Newton iterations, which give the same weights. There is no ratio of "
    "the library, which runs in PyTorch, to compiled softmax. Comparable: ratios to softmax; the "
    "paper's are computed from its published speeds (half precision, a 2019 GPU). Not comparable: "
    "BLEU and speeds. The learned alpha is the mean over heads and layers; the paper's released "
    "code fixes it at 1.5. The paper has no En-Vi results for sparsemax and entmax-alpha."
)
ROWS = [
    ("softmax", SOFTMAX, "transformer"),
    ("sparsemax", "sparsemax", "sparsemax"),
    ("entmax-1.5", "entmax15", "entmax15"),
    ("entmax-alpha, learned", "entmax_alpha", "entmaxa"),
    ("top-k", "top_k", "est"),
]
BY_LIBRARY = ("sparsemax", "entmax15", "entmax_alpha")
TIMED = "iwslt14-deen"
ALPHAS = (1.0, 2.0)  # from softmax to sparsemax
DIRECTIONS = {"En-Vi": "iwslt15-envi", "De-En": TIMED}
SPEEDS = [
    ("training", "train_tokens_per_s", "train_speed"),
    ("decoding", "predict_tokens_per_s", "infer_speed"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="translation_normalisers")
    base = pick(runs, variant=SOFTMAX, paper_corpus=TIMED)
    cells = []
    for label, variant, key in ROWS:
        variant_runs = pick(runs, variant=variant)
        stem = f"est.t4.{key}"
        timed = pick(variant_runs, paper_corpus=TIMED)
        for direction, paper_corpus in DIRECTIONS.items():
            key = f"{stem}.{paper_corpus.partition('-')[2]}"
            published = key if key in load() else None
            seeds = pick(variant_runs, paper_corpus=paper_corpus)
            cells.append(measured(label, direction, seeds, "test_bleu_tokenised", published))
        for phase, quantity, end in SPEEDS:
            speed = measured(
                label,
                f"{phase} speed",
                take_cost_row(timed),
                quantity,
                f"{stem}.{end}",
                unit="tokens/s",
            )
            cells.append(speed)
        for phase, quantity, end in SPEEDS:
            cells.append(ratio(label, f"{phase} ratio", quantity, timed, base, SOFTMAX))
            published_ratio = value(f"{stem}.{end}") / value(f"est.t4.transformer.{end}")
            if variant in BY_LIBRARY:
                column = f"{phase} ratio, with library"
                library = f"library_{quantity}"
                cells.append(ratio(label, column, library, timed, base, SOFTMAX, quantity))
            cells.append(analytic(label, f"{phase} ratio, paper", published_ratio, "×"))
        cells += _settings(label, variant, timed)
    return make_table(cells)


def _settings(label: str, variant: str, runs: pd.DataFrame) -> list[Cell]:
    """Return the cells of a single row: k of top-k, and the learned alpha of entmax."""
    if variant == "top_k":
        return [setting(label, "k", runs, "k", "est.txt.k_small", unit="keys")]
    if variant == "entmax_alpha":
        runs = runs.assign(mean_alpha=runs["alpha"].map(_mean_alpha))
        return [measured(label, "alpha, De-En", runs, "mean_alpha", bounds=ALPHAS)]
    return []


def _mean_alpha(alpha) -> float | None:
    """Average alpha[layer][head] over the heads of all layers; None if no alpha was learned."""
    heads = [head for layer in alpha for head in layer] if isinstance(alpha, list) else []
    return sum(heads) / len(heads) if heads else None
