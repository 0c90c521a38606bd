"""Compare every method with softmax on every task, by how far it works beyond training lengths."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.figures.colours import as_named
from workflow.report.tables.cells import pick
from workflow.results.censored import bound_of, bound_of_difference
from workflow.results.conditions import AT, scores_over_condition
from workflow.results.datasets import with_titles
from workflow.results.runs_table import finished
from workflow.results.statistics import LEVEL, Unpaired, holm, unpaired_differences
from workflow.tasks.spec import TASKS

QUESTION = "where_sparse_helps"
REACH = "test_reach"
ACCURACY = "test_accuracy"
SOLVED = TASKS["symbols"].solved
NOT_SOLVED = SOLVED.title
SPARSE = ("entmax15", "entmax_alpha", "sparsemax")  # normalisers that give keys no weight


@dataclass(frozen=True)
class Method:
    """One method on one task.

    task: title of the problem. runs: one for each judging seed, failed ones too; `baseline` those
    of the method that it is compared with, itself for softmax.
    bound: ≥ or ≤ where the length of some seed is censored; ≈ where seeds differ.
    difference: doublings more than the baseline; None for the baseline, and without finished runs.
    p: of the difference, after Holm correction over all tasks and methods.
    """

    task: str
    name: str
    colour: str
    is_sparse: bool
    runs: pd.DataFrame
    baseline: pd.DataFrame
    bound: str
    difference: Unpaired | None = None
    p: float | None = None

    @property
    def is_baseline(self) -> bool:
        return self.runs is self.baseline

    @property
    def unsolved(self) -> str:
        """Say why nothing is concluded from its difference; empty where something is."""
        if not is_solved(self.runs):
            return NOT_SOLVED
        if not is_solved(self.baseline):
            name = next(iter(self.baseline["variant"]), "baseline")
            return f"{name} {NOT_SOLVED}"
        return ""

    @property
    def is_significant(self) -> bool:
        """Whether its length differs from the baseline's after correction."""
        return self.p is not None and self.p <= LEVEL and not self.unsolved

    @property
    def bound_of_difference(self) -> str:
        """Return ≥ or ≤ where censoring makes the difference a bound; ≈ where it is neither."""
        return bound_of_difference(self.bound, bound_of(self.baseline, REACH))


def compare_methods(runs: pd.DataFrame) -> list[Method]:
    """List every method on every task, in the order of the question.

    runs: of several questions. The standard deviation is pooled over the methods that solve a task.
    """
    judged = with_titles(as_named(pick(runs, question=QUESTION)))
    methods = []
    baseline = next(iter(judged["variant"]), "")
    for _, on_task in judged.groupby("title", sort=False):
        methods += _on_task(on_task, baseline)
    tested = [each for each in methods if each.difference and each.difference.p is not None]
    corrected = holm([each.difference.p for each in tested])
    p_of = {id(each): p for each, p in zip(tested, corrected, strict=True)}
    return [replace(each, p=p_of.get(id(each))) for each in methods]


def _on_task(runs: pd.DataFrame, baseline: str) -> Iterator[Method]:
    """Yield the methods of one task. baseline: what the others are compared with."""
    by_method = dict(iter(runs.groupby("variant", sort=False)))
    lengths = {}
    for name, mine in by_method.items():
        lengths[name] = finished(mine, REACH)[REACH].astype(float).tolist()
    # seeds that do not learn the task all have length 0, and would shrink the deviation
    solved = [name for name, mine in by_method.items() if is_solved(mine)]
    of_baseline = by_method.get(baseline, runs[:0])
    for name, mine in by_method.items():
        pooled = {each: lengths[each] for each in (*solved, baseline, name) if each in lengths}
        differences = unpaired_differences({baseline: [], **pooled}, baseline)
        yield Method(
            task=mine["title"].iloc[0],
            name=name,
            colour=mine["colour"].iloc[0],
            is_sparse=_is_sparse(mine),
            runs=mine,
            baseline=of_baseline,
            bound=bound_of(mine, REACH),
            difference=differences.get(name),
        )


def _is_sparse(runs: pd.DataFrame) -> bool:
    """Whether a method can give keys no weight."""
    selects = runs["selection"].iloc[0] != "all"
    return selects or runs["normaliser"].iloc[0] in SPARSE


def is_solved(runs: pd.DataFrame) -> bool:
    """Whether a method solves its task at the training length."""
    return bool(finished(runs, SOLVED.quantity)[SOLVED.quantity].mean() >= SOLVED.least)


def multiples_of(runs: pd.DataFrame) -> list[float]:
    """List the test lengths of any of these runs, as multiples of the longest in training."""
    return sorted(scores_over_condition(runs)[AT].unique())
