"""All attention variants side by side: their quality and their cost."""

import pandas as pd

from workflow.report.tables._cells import COST_COLUMNS, make_table, measured, pick, ratio, setting, take_rows

READS = ("runs", "flops", "memory", "throughput")
TITLE = "Quality and cost of each attention variant"
CAPTION = (
    "Equal steps for every row. Multiply-adds in three readings: the paper's formula at the mean span, the "
    "dense definition, and what the engine executes after trimming to what the heads reach; torch's counter and"
    " fvcore check the count of the same graph. Ratios are to the fixed span with softmax. Memory is "
    "measured once per configuration, speeds in turns, on one device. Transformer-XL follows its own recipe."
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
RATIOS = [
    ("executed ratio", "macs_executed"),
    ("memory ratio", "memory_train_bytes"),
    ("training ratio", "train_tokens_per_s"),
    ("prediction ratio", "predict_tokens_per_s"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs, cells = pick(runs, ablation="quality_against_cost"), []
    base = pick(runs, variant=BASE)
    for variant, seeds in runs.groupby("label", sort=False):
        cells += [measured(variant, column, seeds, quantity, unit) for column, quantity, unit in QUALITY]
        cells.append(setting(variant, "#params", seeds, "parameters", "parameters"))
        for column, quantity, unit in COST_COLUMNS:
            cells.append(measured(variant, column, take_rows(seeds, quantity), quantity, unit))
        cells += [ratio(variant, column, quantity, seeds, base, BASE) for column, quantity in RATIOS]
    return make_table(cells)
