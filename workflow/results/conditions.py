"""Scores over a condition, such as the test length: the table of runs with a row for each value."""

import math

import pandas as pd

from workflow.tasks.task import TaskSpec

AT = "at"  # the column of the value
SAMPLES = "samples"  # the column of how many samples were scored there


def measured_over(task: TaskSpec, split: str = "test") -> list[str]:
    """Name the scores that a task's records have at each value of its condition."""
    return [f"{split}_{metric.name}" for metric in task.metrics if metric.over_condition]


def drawn_over(task: TaskSpec, split: str = "test") -> list[str]:
    """Name those of these scores that a question's page draws over the condition."""
    drawn = {f"{split}_{metric.name}" for metric in task.metrics if metric.drawn}
    return [name for name in measured_over(task, split) if name in drawn]


def over_condition(runs: pd.DataFrame) -> pd.DataFrame:
    """Repeat each run for each value of its condition, with the scores that it has there.

    Adds the columns `at` and `samples`. A run without any is left out.
    """
    rows = []
    for run in runs.to_dict("records"):
        for scores in run["over_condition"] or ():
            at = {AT: scores["at"], SAMPLES: scores["count"]}
            rows.append(run | at | scores["metrics"])
    return pd.DataFrame(rows, columns=[*runs.columns, AT, SAMPLES])


def scores_over_condition(runs: pd.DataFrame, *quantities: str) -> pd.DataFrame:
    """Make a row for each run and value of its condition: digest, `at` and these scores alone."""
    # A run has hundreds of columns, which would be copied to each value. Its own scores are not
    # those at a value that has none.
    scores = dict.fromkeys(quantities, math.nan)
    return over_condition(runs[["digest", "over_condition"]].assign(**scores))


def scores_at(runs: pd.DataFrame, value: float, *quantities: str) -> pd.DataFrame:
    """Give runs the scores that they have at a value of their condition, else none."""
    there = [_metrics_at(scored, value) for scored in runs["over_condition"]]
    at = {}
    for quantity in quantities:
        scores = [metrics.get(quantity) for metrics in there]
        at[quantity] = pd.Series(scores, runs.index, dtype=float)
    return runs.assign(**at)


def _metrics_at(over_condition: list[dict] | None, value: float) -> dict[str, float | None]:
    """Return the scores of one run at a value of its condition, without a table of all values."""
    for scores in over_condition or ():
        if scores["at"] == value:
            return scores["metrics"]
    return {}
