"""The tables of predictions of one question: what came out, and how good they were, by task."""

import pandas as pd

from studies.long_context.tables._predictions import PREDICTIONS, SCALE, Prediction, brier
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, make_table

OUTCOMES = "Predictions and outcomes"  # title and caption of the first table
ABOUT_OUTCOMES = (
    "Written before any judging seed of the task was trained. Each is decided by the mean over "
    "the judging seeds, unless it names the best seed. Score: the squared difference between the "
    "probability and the outcome; always 50 % scores 0.25."
)
SCORES = "How good were the predictions?"  # those of the second
ABOUT_SCORES = (
    "Brier score: the mean squared difference between probability and outcome; lower is better. "
    "Base rate: the share of predictions that came true, known only afterwards."
)
ALL = "all tasks"


def list_outcomes(question: str, runs: pd.DataFrame) -> pd.DataFrame:
    """List a question's predictions, each with its probability and what came out."""
    if not (runs["scale"] == SCALE).any():
        missing = Missing(f"they are about scale {SCALE}")
        cell = make_cell("all", "came true", missing, "", "measured", status="not run")
        return make_table([cell])
    cells: list[Cell] = []
    for prediction in _predictions_of(question):
        cells += _outcome(prediction, runs)
    return make_table(cells)


def score_by_task(question: str, runs: pd.DataFrame) -> pd.DataFrame:
    """Score a question's predictions, those of each task and all together."""
    tasks = list(dict.fromkeys(prediction.task for prediction in _predictions_of(question)))
    if not (runs["scale"] == SCALE).any():
        tasks = []
    cells: list[Cell] = []
    for task in [*tasks, ALL]:
        cells += _scores(question, task, runs)
    return make_table(cells)


def _predictions_of(question: str) -> list[Prediction]:
    return [prediction for prediction in PREDICTIONS if prediction.question == question]


def _outcome(prediction: Prediction, runs: pd.DataFrame) -> list[Cell]:
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


def _scores(question: str, task: str, runs: pd.DataFrame) -> list[Cell]:
    probabilities = []
    outcomes = []
    behind = []
    for prediction in _predictions_of(question):
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
