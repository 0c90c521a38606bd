"""Every span limit S with every k: quality, span and cost of top-k on adaptive spans."""

import pandas as pd

from workflow.tables._cells import measured, once, pick, table

TITLE = "Span limit S by number of kept keys k"
CAPTION = "Adaptive spans; k = all is the same net without selection. Speeds are measured once per cell."
COLUMNS = [
    ("dev", "dev_bpc", "bpc"),
    ("avg. span", "mean_span", "characters"),
    ("#FLOPS", "macs_paper", "multiply-adds / character"),
    ("executed", "macs_executed", "multiply-adds / character"),
    ("training speed", "train_tokens_per_s", "characters / s"),
    ("prediction speed", "predict_tokens_per_s", "characters / s"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    mine, cells = pick(runs, ablation="span_by_k"), []
    for S in sorted(mine["S"].dropna().unique()):
        for k in [None, *sorted(mine["k"].dropna().unique())]:
            at = pick(mine, S=S)
            at = at[at["k"].isna()] if k is None else pick(at, k=k)
            label = f"S = {S:.0f}, k = {'all' if k is None else f'{k:.0f}'}"
            for column, what, unit in COLUMNS:
                cells.append(measured(label, column, once(at) if "speed" in column else at, what, unit))
    return table(cells)
