"""An adaptive span beside a fixed one, under something else that is varied: what is lost, and what is saved."""

import pandas as pd

from workflow.report.tables.cells import measured, pick, ratio


def beside_fixed(runs: pd.DataFrame, label: str, fixed: str, adaptive: str) -> list[dict]:
    """Return the cells of a row for each text: test bpc of both variants, paired difference, span and cost."""
    cells = []
    for corpus in runs["corpus"].drop_duplicates():
        ours, theirs = (pick(runs, corpus=corpus, variant=variant) for variant in (adaptive, fixed))
        by_seed = pick(theirs, status="ok").groupby("seed")["test_bpc"].mean()
        ours = ours.assign(above_fixed=ours["test_bpc"] - ours["seed"].map(by_seed))
        row = f"{label}, {corpus}"
        cells += [
            measured(row, "fixed span, test", theirs, "test_bpc"),
            measured(row, "adaptive span, test", ours, "test_bpc"),
            measured(row, "adaptive, difference", ours, "above_fixed", unit="bpc"),
            measured(row, "avg. adaptive span", ours, "mean_span"),
            measured(row, "fixed span, executed", theirs, "macs_executed"),
            ratio(row, "adaptive, executed, to fixed", "macs_executed", ours, theirs, fixed),
        ]
    return cells
