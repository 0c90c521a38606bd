"""All ways of attending side by side: what each buys and what it costs."""

import pandas as pd

from workflow.tables._cells import cell, measured, pick, table

TITLE = "What each way of attending costs, and what it buys"
CAPTION = (
    "Equal steps for every row. Multiply-adds in three readings: the paper's formula at the mean span, the "
    "dense definition, and what the engine executes after trimming to what the heads reach; torch's counter and"
    " fvcore check the count of the same graph. Ratios are to the fixed span with softmax. Speeds and memory "
    "are measured once per cell, in turns, on this device."
)
BASE = "fixed"
QUALITY = [
    ("dev", "dev_bpc", "bpc"),
    ("test", "test_bpc", "bpc"),
    ("avg. span", "mean_span", "characters"),
    ("#params", "parameters", "parameters"),
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


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="normalisers"), []
    base = pick(mine, variant=BASE).head(1)
    for variant in mine["variant"].unique():
        at = pick(mine, variant=variant)
        cells += [measured(variant, column, at, what, unit) for column, what, unit in QUALITY]
        cells += [measured(variant, column, at.head(1), what, unit) for column, what, unit in COST]
        for kind in ("train", "predict"):
            cells.append(_ratio(variant, kind, at.head(1), base))
    return table(cells)


def _ratio(variant: str, kind: str, runs: pd.DataFrame, base: pd.DataFrame) -> dict:
    """Speed over the fixed span's, from one interleaved measurement."""
    column = "training ratio" if kind == "train" else "prediction ratio"
    what = f"{kind}_tokens_per_s"
    speeds = [float(one[what].iloc[0]) if len(one) else float("nan") for one in (runs, base)]
    if pd.isna(speeds).any():
        return cell(variant, column, None, "x", "measured", runs=runs, status="not run", note="not timed")
    return cell(variant, column, speeds[0] / speeds[1], "x", "measured", n=1, runs=runs)
