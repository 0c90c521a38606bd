"""Each prediction of recall and length, with its probability and what came out."""

import pandas as pd

from studies.long_context.tables._predictions import PREDICTIONS, SCALE, Prediction
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, make_table

READS = ("runs",)
TITLE = "Predictions and outcomes"
CAPTION = (
    "Written before any judging seed of the task was trained. Each is decided by the mean over "
    "the judging seeds, unless it names the best seed. Score: the squared difference between the "
    "probability and the outcome; always 50 % scores 0.25."
)


def build(runs: pd.DataFrame) -> pd.DataFrame:
    if not (runs["scale"] == SCALE).any():
        missing = Missing(f"they are about scale {SCALE}")
        cell = make_cell("all", "came true", missing, "", "measured", status="not run")
        return make_table([cell])
    cells: list[Cell] = []
    for prediction in PREDICTIONS:
        cells += _row(prediction, runs)
    return make_table(cells)


def _row(prediction: Prediction, runs: pd.DataFrame) -> list[Cell]:
    row = f"{prediction.task}: {prediction.statement}"
    mine = prediction.runs(runs)
    outcome = prediction.outcome(runs)
    probability = 100 * prediction.probability
    cells = [
        make_cell(row, "known before", prediction.known, "", "setting"),
        make_cell(row, "probability", probability, "%", "setting"),
    ]
    if outcome is None:
        missing = Missing("not decided: a variant has no run of this task")
        for column in ("came true", "score"):
            cells.append(make_cell(row, column, missing, "", "measured", status="not run"))
        return cells
    answer = "yes" if outcome else "no"
    score = (prediction.probability - outcome) ** 2
    cells.append(make_cell(row, "came true", answer, "", "measured", runs=mine))
    cells.append(make_cell(row, "score", score, "", "measured", runs=mine))
    return cells
