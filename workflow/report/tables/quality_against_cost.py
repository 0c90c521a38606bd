"""All ways of attending side by side: what each buys and what it costs."""

import pandas as pd

from workflow.report.tables._cells import behind, measured, pick, ratio, setting, table

READS = ("runs", "flops", "memory", "throughput")
TITLE = "What each way of attending costs, and what it buys"
CAPTION = (
    "Equal steps for every row. Multiply-adds in three readings: the paper's formula at the mean span, the "
    "dense definition, and what the engine executes after trimming to what the heads reach; torch's counter and"
    " fvcore check the count of the same graph. Ratios are to the fixed span with softmax. Speeds and memory "
    "are measured once per cell, in turns, on this device. Transformer-XL follows its own recipe (Adam)."
)
BASE = "fixed"
QUALITY = [
    ("dev", "dev_bpc", "bpc"),
    ("test", "test_bpc", "bpc"),
    ("avg. span", "mean_span", "characters"),
    ("#FLOPS, formula", "macs_paper", "multiply-adds / character"),
    ("dense", "macs_dense", "multiply-adds / character"),
    ("executed", "macs_executed", "multiply-adds / character"),
]
COST = [
    ("one block, ours", "macs_analytic", "multiply-adds / character"),
    ("one block, torch", "macs_torch", "multiply-adds / character"),
    ("one block, fvcore", "macs_fvcore", "multiply-adds / character"),
    ("training memory", "memory_train_bytes", "bytes"),
    ("evaluation memory", "memory_evaluate_bytes", "bytes"),
    ("training speed", "train_tokens_per_s", "characters / s"),
    ("prediction speed", "predict_tokens_per_s", "characters / s"),
]
RATIOS = [
    ("executed ratio", "macs_executed"),
    ("memory ratio", "memory_train_bytes"),
    ("training ratio", "train_tokens_per_s"),
    ("prediction ratio", "predict_tokens_per_s"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="normalisers"), []
    base = pick(mine, variant=BASE)
    for variant in mine["variant"].unique():
        at = pick(mine, variant=variant)
        cells += [measured(variant, column, at, what, unit) for column, what, unit in QUALITY]
        cells.append(setting(variant, "#params", at, "parameters", "parameters"))
        cells += [measured(variant, column, behind(at, what), what, unit) for column, what, unit in COST]
        cells += [ratio(variant, column, what, at, base, BASE) for column, what in RATIOS]
    return table(cells)
