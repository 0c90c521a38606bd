"""The grid of every question as the page turns it: one object for each cell, means over seeds, and one of its runs."""

import pandas as pd

from workflow.plan.ablations import load_ablation
from workflow.report.pages.columns import HEADLINE
from workflow.results import runs_table as frame

AXES = ("variant", "S", "k", "text")


def pivot(runs: pd.DataFrame) -> dict:
    """cells: the axes, and by ablation its question, its measures and its cells."""
    found = {name: _question(name, mine) for name, mine in runs.groupby("ablation")}
    told = {"axes": AXES, "questions": found}
    return {"title": "Turn the grid", "provenance": frame.provenance(runs), "cells": told}


def _question(name: str, runs: pd.DataFrame) -> dict:
    one = load_ablation(name)
    measures = {title: column for column, title, _ in HEADLINE[one.task]} | {"memory, bytes": "memory_train_bytes"}
    good = runs[runs["status"] == "ok"]
    texts = [frame.text_of(one.corpus, one.text) for one in good.itertuples()]
    good = good.assign(text=pd.Series(texts, index=good.index, dtype=object))
    cells = [
        {axis: _plain(value) for axis, value in zip(AXES, key, strict=True)}
        | {title: _plain(group[column].mean()) for title, column in measures.items()}
        | {"run": group["digest"].iloc[0]}
        for key, group in good.groupby([*AXES], dropna=False, sort=False)
    ]
    return {"question": one.question, "measures": [*measures], "cells": cells}


def _plain(value):
    """As JSON has it: None for a missing number, a whole number for one."""
    if isinstance(value, str):
        return value
    return None if pd.isna(value) else int(value) if float(value).is_integer() else float(value)
