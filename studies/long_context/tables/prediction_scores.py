"""How good the predictions of recall and length were, by task."""

import pandas as pd

from studies.long_context.tables._predictions import PREDICTIONS, SCALE, brier
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, make_table

READS = ("runs",)
TITLE = "How good were the predictions?"
CAPTION = (
    "Brier score: the mean squared difference between probability and outcome; lower is better. "
    "Base rate: the share of predictions that came true, known only afterwards."
)
ALL = "all tasks"


def build(runs: pd.DataFrame) -> pd.DataFrame:
    tasks = list(dict.fromkeys(prediction.task for prediction in PREDICTIONS))
    if not (runs["scale"] == SCALE).any():
        tasks = []
    cells: list[Cell] = []
    for task in [*tasks, ALL]:
        cells += _row(task, runs)
    return make_table(cells)


def _row(task: str, runs: pd.DataFrame) -> list[Cell]:
    probabilities = []
    outcomes = []
    behind = []
    for prediction in PREDICTIONS:
        if task not in (ALL, prediction.task):
            continue
        outcome = prediction.outcome(runs)
        if outcome is not None:
            probabilities.append(prediction.probability)
            outcomes.append(outcome)
            behind.append(prediction.runs(runs))
    if not outcomes:
        missing = Missing("no prediction of this task is decided")
        return [make_cell(task, "predictions", missing, "", "measured", status="not run")]
    scores = brier(probabilities, outcomes)
    of_task = pd.concat(behind)
    columns = {
        "came true": f"{sum(outcomes)} of {scores.count}",
        "predictions": scores.ours,
        "always 50 %": scores.even,
        "base rate": scores.base_rate,
    }
    cells = []
    for column, value in columns.items():
        cells.append(make_cell(task, column, value, "", "measured", runs=of_task))
    return cells
