"""The pivot table: for every question a cell for each variant, S, k and corpus, with its values.

The page computes means and intervals itself (templates/pivot.js), with the factors that are given.
"""

import math
from dataclasses import dataclass

import pandas as pd

from workflow.report.figures.colours import as_named, on_page, shades
from workflow.report.pages.artefacts import runs_at
from workflow.report.tables.cells import MEASURED_BY, take_cost_row
from workflow.results.datasets import name_badges, with_titles
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import describe_runs
from workflow.results.statistics import interval_factor
from workflow.results.timings import TIMED, clocks, turn_values
from workflow.settings.questions import load_question

# as the page names them: their columns
DIMENSIONS = {"variant": "variant", "S": "S", "k": "k", "text": "title"}
MOST = 30  # values of which an interval is given
SERIES = 8  # shades of what has no colour of its own

Plain = str | int | float | None
# a place on each dimension, the values of each measure by seed, and `run`: a page of a run
Cell = dict[str, Plain | dict[str, Plain]]


@dataclass(frozen=True)
class QuestionCells:
    """The cells of one question.

    measures: title, which direction is better, and the bounds of its values, None where there is
    none. colours: by variant, as CSS.
    """

    question: str
    measures: list[tuple[str, str | None, list[float | None]]]
    cells: list[Cell]
    colours: dict[str, str]


@dataclass(frozen=True)
class PivotCells:
    """What the script of the page reads.

    axes: the dimensions. factors: by n, half the interval of n values in standard deviations.
    shades: colours of what has none of its own.
    """

    axes: list[str]
    questions: dict[str, QuestionCells]
    factors: list[float | None]
    shades: list[str]


@dataclass(frozen=True)
class PivotPage:
    """What the page shows."""

    title: str
    provenance: str
    cells: PivotCells


def pivot_page(runs: pd.DataFrame) -> PivotPage:
    """Collect what the pivot table needs. runs: of all questions, with their costs."""
    cells = PivotCells(
        axes=[*DIMENSIONS],
        questions={name: _question(name, rows) for name, rows in runs.groupby("question")},
        factors=[None, None, *(interval_factor(n) for n in range(2, MOST + 1))],
        shades=[on_page(colour) for colour in shades(SERIES)],
    )
    provenance = describe_runs(runs, name_badges(runs))
    return PivotPage(title="Pivot table", provenance=provenance, cells=cells)


def _question(name: str, runs: pd.DataFrame) -> QuestionCells:
    """Collect the cells of one question."""
    question = load_question(name)
    titles = {each.title: each.quantity for each in question.spec.columns}
    titles["memory, bytes"] = "memory_train_bytes"
    titles = {title: quantity for title, quantity in titles.items() if quantity in runs}
    runs = as_named(runs)
    colours = dict(zip(runs["variant"], map(on_page, runs["colour"]), strict=True))
    finished = with_titles(runs[runs["status"] == "ok"])
    cells = []
    for place, group in finished.groupby([*DIMENSIONS.values()], dropna=False, sort=False):
        cells.append(_cell(place, group, titles, runs_at(name)))
    measures = []
    for title, quantity in titles.items():
        bounds = [each if math.isfinite(each) else None for each in bounds_of(quantity)]
        measures.append((title, REGISTRY[quantity].better, bounds))
    return QuestionCells(question.question, measures, cells, colours)


def _cell(place: tuple, runs: pd.DataFrame, titles: dict[str, str], folder: str) -> Cell:
    """Make a cell. titles: title -> quantity of each measure. folder: of the pages of its runs."""
    cell: Cell = {}
    for dimension, value in zip(DIMENSIONS, place, strict=True):
        cell[dimension] = _plain(value)
    cost_row = take_cost_row(runs)
    for title, quantity in titles.items():
        cell[title] = _by_seed(runs, cost_row, quantity)
    cell["run"] = f"{folder}{runs['digest'].iloc[0]}.html"
    return cell


def _by_seed(runs: pd.DataFrame, cost_row: pd.DataFrame, quantity: str) -> dict[str, Plain]:
    """Map each seed, or round of a timing, to its value; a cost of a configuration has one value.

    cost_row: the one of these runs whose costs count.
    The key of a cost names what measured it, so that the page divides it by none of another backend
    or machine.
    """
    values: dict[str, float]
    if quantity in TIMED:
        (clock,) = clocks(cost_row)
        row = cost_row.iloc[0]
        made = f"{clock}, {_made(row, 'throughput')}"
        rounds = turn_values(row, quantity)
        values = {f"{number} {made}": value for number, value in enumerate(rounds)}
    elif quantity in MEASURED_BY:
        row = cost_row.iloc[0]
        values = {_made(row, MEASURED_BY[quantity]): row[quantity]}
    else:
        values = dict(zip(runs["seed"].astype(str), runs[quantity], strict=True))
    return {seed: _plain(value) for seed, value in values.items() if not pd.isna(value)}


def _made(row: pd.Series, kind: str) -> str:
    """Name the code and the machine that measured a cost."""
    return f"{row.get(f'{kind}_backend')}, {row.get(f'{kind}_machine')}"


def _plain(value: object) -> Plain:
    """Return the value as JSON has it: None for a missing number, an integer for a whole one."""
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return None
    return int(value) if float(value).is_integer() else float(value)
