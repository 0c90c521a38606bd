"""What controls at test time win back at the largest test length, by task and method."""

from collections.abc import Iterator

import pandas as pd

from studies.long_context.tables._controls import TRAINED, Control, controls_of
from studies.long_context.tables._reach import (
    ACCURACY,
    QUESTION,
    Method,
    compare_methods,
    multiples_of,
)
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, make_table, measured, pick, with_mean
from workflow.results.conditions import scores_at
from workflow.results.statistics import of_difference, over_seeds
from workflow.tasks.symbols.metrics import SHARE

READS = ("runs",)
TITLE = "What the controls at test time change"
CAPTION = (
    "Token accuracy as trained, and how many points a control changes it at test time. Hard "
    "maximum: all weight on the highest score. Sharper scores: multiplied by a factor, chosen on "
    "dev at the tuning length. What a control wins back was lost to dispersion; the rest may be "
    "lost to ranking. A control that loses more than two points at the training length supports no "
    "conclusion. Changes are paired by seed."
)
POINTS = "points"


def build(runs: pd.DataFrame) -> pd.DataFrame:
    tested = multiples_of(pick(runs, question=QUESTION))
    largest = max(tested, default=TRAINED)
    cells = []
    for method in compare_methods(runs):
        cells += _row(method, largest)
    return make_table(cells)


def _row(method: Method, largest: float) -> Iterator[Cell]:
    """Yield the cells of one method on one task."""
    row = f"{method.task}: {method.name}"
    runs = method.runs
    for multiple in dict.fromkeys((TRAINED, largest)):
        there = scores_at(runs, multiple, ACCURACY)
        yield measured(row, f"as trained, {multiple:g}×", there, ACCURACY)
    for control in controls_of(runs, largest):
        yield from _changes(row, runs, control, largest)
    factors = sorted(runs["sharpened"].dropna().unique())
    listed = ", ".join(f"{factor:g}" for factor in factors)
    yield make_cell(row, "chosen factors", listed, "", "setting", runs=runs)


def _changes(row: str, runs: pd.DataFrame, control: Control, largest: float) -> Iterator[Cell]:
    """Yield what a control costs at the training length, and what it wins back."""
    yield _mean_change(row, f"{control.name}, change at 1×", runs, control.changes)
    column = f"{control.name}, won back at {largest:g}×"
    if control.why_not:
        missing = Missing(control.why_not)
        yield make_cell(row, column, missing, POINTS, "measured", runs=runs)
        return
    yield _mean_change(row, column, runs, control.won_back)


def _mean_change(row: str, column: str, runs: pd.DataFrame, changes: list[float]) -> Cell:
    """Return the cell of a change, a mean over seeds."""
    missing = Missing("no score at this length")
    n = len(changes)
    cell = make_cell(row, column, missing, POINTS, "measured", n=n, runs=runs)
    return with_mean(cell, over_seeds(changes, bounds=of_difference(SHARE)))
