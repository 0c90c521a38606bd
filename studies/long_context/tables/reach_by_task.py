"""How far each method works beyond the training length on each task, and its lead over softmax."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from studies.long_context.tables._reach import (
    ACCURACY,
    QUESTION,
    REACH,
    Method,
    compare_methods,
    multiples_of,
)
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, make_table, measured, pick, with_mean
from workflow.results.censored import bound_of
from workflow.results.conditions import scores_at
from workflow.results.runs_table import finished
from workflow.results.statistics import Summary

READS = ("runs",)
TITLE = "Reach by task and method"
CAPTION = (
    "Reach: doublings of the training length up to which token accuracy stays at 90 %; ≥ or ≤ if "
    "some seed is censored. Best seed: what papers often report. Difference: from softmax, with a "
    "standard deviation pooled over the methods of the task. p: after Holm correction over all "
    "tasks and methods. A method below 99 % token accuracy at the training length supports no "
    "conclusion. Accuracies at individual lengths are descriptive."
)
MULTIPLES = (1, 2, 4, 8, 16)
UNIT = "doublings"


def build(runs: pd.DataFrame) -> pd.DataFrame:
    cells = []
    multiples = _shown_multiples(runs)
    for method in compare_methods(runs):
        row = f"{method.task}: {method.name}"
        cells += _cells(row, method)
        for multiple in multiples:
            there = scores_at(method.runs, multiple, ACCURACY)
            cells.append(measured(row, f"accuracy at {multiple}×", there, ACCURACY))
    return make_table(cells)


def _shown_multiples(runs: pd.DataFrame) -> list[int]:
    """List the multiples with a column: those that were tested, all where nothing was."""
    tested = multiples_of(pick(runs, question=QUESTION))
    return [each for each in MULTIPLES if each in tested or not tested]


def _cells(row: str, method: Method) -> Iterator[Cell]:
    """Yield the cells of a method that have no test length."""
    runs = method.runs
    kind = "sparse" if method.is_sparse else "dense"
    yield make_cell(row, "attention", kind, "", "setting", runs=runs)
    rates = {f"{rate:g}" for rate in runs["lr"].dropna()}
    yield make_cell(row, "learning rate", ", ".join(sorted(rates)), "", "setting", runs=runs)
    yield replace(measured(row, "reach", runs, REACH), bound=method.bound)
    yield _best(row, method)
    yield from _compared(row, method)


def _best(row: str, method: Method) -> Cell:
    """Return the cell of the seed that reaches farthest."""
    runs = finished(method.runs, REACH)
    if not len(runs):
        return measured(row, "best seed", method.runs, REACH)
    best = runs.sort_values(REACH).tail(1)
    return replace(measured(row, "best seed", best, REACH), bound=bound_of(best, REACH))


def _compared(row: str, method: Method) -> Iterator[Cell]:
    """Yield the difference from softmax and its p, or why nothing is concluded from it."""
    both = pd.concat([method.runs, method.baseline])
    difference = method.difference
    if method.is_baseline:
        why = "baseline"
    elif difference is None:
        why = "no finished run to compare"
    else:
        why = method.unsolved
    if why:
        yield make_cell(row, "difference", Missing(why), UNIT, "measured", runs=both)
        yield make_cell(row, "p after Holm", "", "", "measured", runs=both)
        return
    cell = make_cell(row, "difference", difference.mean, UNIT, "measured", runs=both)
    interval = Summary(difference.mean, difference.low, difference.high)
    yield replace(with_mean(cell, interval), bound=method.bound_of_difference)
    p = "" if method.p is None else _write_p(method.p)
    yield make_cell(row, "p after Holm", p, "", "measured", runs=both)


def _write_p(p: float) -> float | str:
    """Return p as tables show it: nobody reads more than three places."""
    return "< 0.001" if p < 0.001 else round(p, 3)
