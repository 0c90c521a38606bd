"""Explicit Sparse Transformer, Table 3: top-k on enwik8."""

import pandas as pd

from workflow.claims.published import load
from workflow.report.tables.cells import (
    Cell,
    analytic,
    cited,
    make_table,
    measured,
    pick,
    setting,
    take_cost_row,
)

READS = ("runs", "throughput")
TITLE = "Top-k attention in language models (Explicit Sparse Transformer, Table 3: enwik8)"
CAPTION = (
    "We train our rows at this scale, on the corpus named with the table. Comparable: whether "
    "top-k improves the same model without it. Not comparable: bits per byte."
)
CITED = [
    ("LN HyperNetworks", "hyper"),
    ("LN HM-LSTM", "hmlstm"),
    ("RHN", "rhn"),
    ("Large FS-LSTM-4", "fslstm"),
    ("Large mLSTM", "mlstm"),
    ("Transformer (Al-Rfou)", "t12"),
]
TRAINED = [
    ("Transformer-XL", "xl", "txl"),
    ("Adaptive span", "adaptive", "as"),
    ("Explicit Sparse Transformer-XL", "xl_top_k", "est"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, question="top_k")
    cells = []
    for label, key in CITED:
        cells += [
            cited(label, "test", f"est.t3.{key}.bpc", "bpc"),
            _params(label, f"est.t3.{key}.params"),
        ]
    for label, variant, key in TRAINED:
        cells += _trained(label, pick(runs, variant=variant), f"est.t3.{key}.bpc")
        cells.append(_params(label, f"est.t3.{key}.params"))
    sparse = pick(runs, variant="adaptive_top_k")
    for k in sorted(sparse["k"].dropna().unique()):
        cells += _trained(f"Adaptive span, top-k, k = {k:.0f}", pick(sparse, k=k), None)
    return make_table(cells)


def _trained(label: str, runs: pd.DataFrame, published: str | None) -> list[Cell]:
    return [
        setting(label, "#params", runs, "parameters"),
        measured(label, "dev", runs, "dev_bpc"),
        measured(label, "test", runs, "test_bpc", published),
        measured(label, "avg. span", runs, "mean_span"),
        measured(label, "training speed", take_cost_row(runs), "train_tokens_per_s"),
    ]


def _params(label: str, key: str) -> Cell:
    recomputed = load()[key].recomputed if key in load() else None
    if recomputed:
        return analytic(
            label,
            "#params, paper size",
            recomputed.result,
            "parameters",
            key,
            recomputed.note or "",
        )
    return cited(label, "#params, paper size", key if key in load() else None, "parameters")
