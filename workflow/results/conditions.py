"""Scores over a condition, such as the test length: the table of runs with a row for each value."""

import pandas as pd

from workflow.tasks.task import TaskSpec

AT = "at"  # the column of the value
SAMPLES = "samples"  # the column of how many samples were scored there


def measured_over(task: TaskSpec, split: str = "test") -> list[str]:
    """Name the scores that a task's records have at each value of its condition."""
    return [f"{split}_{metric.name}" for metric in task.metrics if metric.over_condition]


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
