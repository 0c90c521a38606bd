"""Pick two runs to compare, with softmax and with top-k, for figures of single heads."""

import pandas as pd

from workflow.report.figures.style import pick_holding
from workflow.report.tables.cells import pick

COMPARED = ("softmax", "top_k")  # variants


def pick_compared(
    runs: pd.DataFrame, question: str = "translation", fact: str = "maps"
) -> pd.DataFrame:
    """Pick a run of each variant of `COMPARED`, of the first dataset and seed that all have.

    fact: what their records must hold.
    """
    ok = pick_holding(pick(runs, question=question, status="ok"), fact)
    ok = ok[ok[fact].map(len) > 0]
    compared = ok[ok["variant"].isin(COMPARED)]
    for _, group in compared.groupby(["paper_corpus", "seed"]):
        if set(group["variant"]) == set(COMPARED):
            return group.sort_values("variant")
    return runs.head(0)
