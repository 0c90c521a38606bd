"""The pivot table of every ablation: one object for each cell of its grid, means over seeds, and one of its runs."""

import pandas as pd

from workflow.plan.ablations import load_ablation
from workflow.report.pages.artefacts import runs_at
from workflow.results.runs_table import describe, name_text
from workflow.tasks.spec import TASKS

DIMENSIONS = ("variant", "S", "k", "text")


def pivot_page(runs: pd.DataFrame) -> dict:
    """cells: the axes, and by ablation its question, its measures and its cells."""
    questions = {name: _question(name, rows) for name, rows in runs.groupby("ablation")}
    cells = {"axes": DIMENSIONS, "questions": questions}
    return {"title": "Pivot table", "provenance": describe(runs), "cells": cells}


def _question(name: str, runs: pd.DataFrame) -> dict:
    ablation = load_ablation(name)
    measures = {title: quantity for quantity, title, _ in TASKS[ablation.task].columns}
    measures |= {"memory, bytes": "memory_train_bytes"}
    measures = {title: quantity for title, quantity in measures.items() if quantity in runs}
    finished = runs[runs["status"] == "ok"]
    texts = [name_text(run.paper_corpus, run.corpus) for run in finished.itertuples()]
    finished = finished.assign(text=pd.Series(texts, index=finished.index, dtype=object))
    cells = [
        {axis: _plain(value) for axis, value in zip(DIMENSIONS, key, strict=True)}
        | {title: _plain(group[quantity].mean()) for title, quantity in measures.items()}
        | {"run": f"{runs_at(name)}{group['digest'].iloc[0]}.html"}
        for key, group in finished.groupby([*DIMENSIONS], dropna=False, sort=False)
    ]
    return {"question": ablation.question, "measures": [*measures], "cells": cells}


def _plain(value):
    """As JSON has it: None for a missing number, an integer for a whole one."""
    if isinstance(value, str):
        return value
    return None if pd.isna(value) else int(value) if float(value).is_integer() else float(value)
