"""What keeps learned spans at their minimum: the position table or sinusoids, Adagrad as released or Adam."""

import pandas as pd

from workflow.report.tables._cells import make_table, measured, pick

READS = ("runs",)
TITLE = "What keeps learned spans at their minimum"
CAPTION = (
    "The same net, text and number of updates, with the paper's choices one by one: a learned vector for each distance "
    "(table) or sinusoids through a learned matrix (smooth), and Adagrad as released or Adam. The paper has a table "
    "and Adagrad. At its minimum a span is as short as its ramp."
)
COLUMNS = [
    ("dev", "dev_bpc", "bpc"),
    ("avg. span", "mean_span", "characters"),
    ("longest span", "max_span", "characters"),
    ("before training", "start_span", "characters"),
    ("executed", "macs_executed", "multiply-adds / character"),
]


def build(runs: pd.DataFrame) -> pd.DataFrame:
    runs = pick(runs, ablation="span_floor")
    cells = [
        measured(label, column, rows, quantity, unit)
        for label, rows in runs.groupby("label", sort=False)
        for column, quantity, unit in COLUMNS
    ]
    return make_table(cells)
