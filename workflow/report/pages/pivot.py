"""The grid of every question as the page turns it: one object for each cell, means over seeds, and one of its runs."""

import pandas as pd

from workflow.plan.ablations import load_ablation
from workflow.report.pages.artefacts import runs_at
from workflow.results.runs_table import describe, name_text
from workflow.tasks.spec import TASKS

DIMENSIONS = ("variant", "S", "k", "text")


def pivot(runs: pd.DataFrame) -> dict:
    """cells: the axes, and by ablation its question, its measures and its cells."""
    found = {name: _question(name, mine) for name, mine in runs.groupby("ablation")}
    told = {"axes": DIMENSIONS, "questions": found}
    return {"title": "Turn the grid", "provenance": describe(runs), "cells": told}


def _question(name: str, runs: pd.DataFrame) -> dict:
    one = load_ablation(name)
    measures = {title: column for column, title, _ in TASKS[one.task].columns} | {"memory, bytes": "memory_train_bytes"}
    measures = {title: column for title, column in measures.items() if column in runs}
    good = runs[runs["status"] == "ok"]
    texts = [name_text(one.paper_corpus, one.corpus) for one in good.itertuples()]
    good = good.assign(text=pd.Series(texts, index=good.index, dtype=object))
    cells = [
        {axis: _plain(value) for axis, value in zip(DIMENSIONS, key, strict=True)}
        | {title: _plain(group[column].mean()) for title, column in measures.items()}
        | {"run": f"{runs_at(name)}{group['digest'].iloc[0]}.html"}
        for key, group in good.groupby([*DIMENSIONS], dropna=False, sort=False)
    ]
    return {"question": one.question, "measures": [*measures], "cells": cells}


def _plain(value):
    """As JSON has it: None for a missing number, a whole number for one."""
    if isinstance(value, str):
        return value
    return None if pd.isna(value) else int(value) if float(value).is_integer() else float(value)
