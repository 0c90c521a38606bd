"""Cells that compare an adaptive span with a fixed span, paired by seed."""

import pandas as pd

from workflow.report.tables.cells import Cell, measured, pick, ratio
from workflow.report.tables.paired import gain


def compare_with_fixed(runs: pd.DataFrame, label: str, fixed: str, adaptive: str) -> list[Cell]:
    """Return a row of cells per corpus: test bpc of both, paired difference, span and cost."""
    cells = []
    for corpus in runs["corpus"].drop_duplicates():
        ours = pick(runs, corpus=corpus, variant=adaptive)
        theirs = pick(runs, corpus=corpus, variant=fixed)
        row = f"{label}, {corpus}"
        cells += [
            measured(row, "fixed span, test", theirs, "test_bpc"),
            measured(row, "adaptive span, test", ours, "test_bpc"),
            gain(row, "adaptive − fixed", ours, theirs, ("test_bpc", "test_bpc")),
            measured(row, "avg. adaptive span", ours, "mean_span"),
            measured(row, "fixed span, MACs", theirs, "macs_executed"),
            ratio(row, "adaptive / fixed, MACs", "macs_executed", ours, theirs, fixed),
        ]
    return cells
