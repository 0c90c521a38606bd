"""A variant beside another, paired by seed: an adaptive span beside a fixed one, a choice beside none."""

import pandas as pd

from workflow.report.tables.cells import measured, pick, ratio


def difference(row: str, column: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> dict:
    """Return the cell of the difference in test bpc, paired by seed. Both: of one text."""
    by_seed = pick(theirs, status="ok").groupby("seed")["test_bpc"].mean()
    apart = ours.assign(apart=ours["test_bpc"] - ours["seed"].map(by_seed))
    return measured(row, column, apart, "apart", unit="bpc")


def beside_fixed(runs: pd.DataFrame, label: str, fixed: str, adaptive: str) -> list[dict]:
    """Return the cells of a row for each text: test bpc of both variants, paired difference, span and cost."""
    cells = []
    for corpus in runs["corpus"].drop_duplicates():
        ours, theirs = (pick(runs, corpus=corpus, variant=variant) for variant in (adaptive, fixed))
        row = f"{label}, {corpus}"
        cells += [
            measured(row, "fixed span, test", theirs, "test_bpc"),
            measured(row, "adaptive span, test", ours, "test_bpc"),
            difference(row, "adaptive, difference", ours, theirs),
            measured(row, "avg. adaptive span", ours, "mean_span"),
            measured(row, "fixed span, executed", theirs, "macs_executed"),
            ratio(row, "adaptive, executed, to fixed", "macs_executed", ours, theirs, fixed),
        ]
    return cells
