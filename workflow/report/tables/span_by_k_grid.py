"""Every span limit S with every k: quality, span and cost of top-k on adaptive spans."""

import pandas as pd

from workflow.report.tables._cells import COST_COLUMNS, make_table, measured, pick, setting, take_rows

READS = ("runs", "flops", "memory", "throughput")
TITLE = "Span limit S by number of kept keys k"
CAPTION = (
    "Adaptive spans; k = all is the same net without selection. Multiply-adds by the paper's formula at the mean span, "
    "of one block by torch and fvcore beside our count of the same graph, and as executed. Counts of one "
    "block and memory are measured once per configuration, speeds in turns."
)
COLUMNS = [
    ("dev", "dev_bpc", "bpc"),
    ("avg. span", "mean_span", "characters"),
    ("#FLOPS", "macs_paper", "multiply-adds / character"),
    ("executed", "macs_executed", "multiply-adds / character"),
    *COST_COLUMNS,
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs, cells = pick(runs, ablation="span_by_k"), []
    for S in sorted(runs["S"].dropna().unique()):
        for k in [None, *sorted(runs["k"].dropna().unique())]:
            seeds = pick(runs, S=S)
            seeds = seeds[seeds["k"].isna()] if k is None else pick(seeds, k=k)
            label = f"S = {S:.0f}, k = {'all' if k is None else f'{k:.0f}'}"
            cells.append(setting(label, "#params", seeds, "parameters", "parameters"))
            for column, quantity, unit in COLUMNS:
                cells.append(measured(label, column, take_rows(seeds, quantity), quantity, unit))
    return make_table(cells)
