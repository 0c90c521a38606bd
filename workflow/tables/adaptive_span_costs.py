"""Adaptive Attention Span, section 3: memory and time of fixed and adaptive spans as the limit S grows."""

import pandas as pd

from workflow.tables._cells import cited, measured, pick, table

TITLE = "Memory and time by span limit (Adaptive Attention Span, section 3)"
CAPTION = (
    "Each cell measured on one trained net, alone on the device; memory is what a process of its own holds "
    "above the libraries. The longest S is found by doubling until a training step no longer fits the budget. "
    "The paper's figures are for 8 V100 and its small model: compare the direction, not the numbers."
)
COSTS = [
    ("training", "memory_train_bytes", "bytes"),
    ("evaluation", "memory_evaluate_bytes", "bytes"),
    ("training step", "train_ms", "ms"),
    ("training speed", "train_tokens_per_s", "characters / s"),
    ("one more character", "predict_ms", "ms"),
    ("prediction speed", "predict_tokens_per_s", "characters / s"),
    ("executed", "macs_executed", "multiply-adds / character"),
]
CLAIMS = {"fixed": "as.txt.max_fixed_fit", "adaptive": "as.txt.max_adapt_fit"}
TIMES = {"fixed": "as.txt.ms_fixed2048", "adaptive": "as.txt.ms_adapt8192"}


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="span_limit"), []
    for variant in CLAIMS:
        ours = pick(mine, variant=variant)
        for S in sorted(ours["S"].dropna().unique()):
            at = pick(ours, S=S)
            label = f"{variant}, S = {S:.0f}"
            cells += [_once(label, column, at, what, unit) for column, what, unit in COSTS]
        longest = ours[ours["longest_S"].notna()]
        label = f"{variant}, any S"
        cells.append(_once(label, "longest S that fits", longest, "longest_S", "characters", CLAIMS[variant]))
        cells.append(cited(label, "training step", TIMES[variant], "ms", "8 V100, batch of 64 x 512"))
    return table(cells)


def _once(label: str, column: str, runs: pd.DataFrame, what: str, unit: str, published: str | None = None) -> dict:
    """Costs are measured once per cell, not per seed: an interval over seeds would pretend otherwise."""
    one = runs if what == "macs_executed" else runs.head(1)
    return measured(label, column, one, what, unit, published)
