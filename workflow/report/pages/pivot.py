"""The pivot table of every question: an object for each cell of its grid, with the values of its
seeds and a run.
"""

import math

import pandas as pd

from workflow.plan.questions import load_question
from workflow.report.figures.colours import as_named, on_page, shades
from workflow.report.pages.artefacts import runs_at
from workflow.report.tables.cells import take_cost_row
from workflow.results.datasets import name_badges, with_titles
from workflow.results.registry import MEASURED_BY, REGISTRY, bounds_of
from workflow.results.runs_table import describe_runs
from workflow.results.statistics import interval_factor
from workflow.results.timings import TIMED, clocks, turn_values

# as the page names them: their columns
DIMENSIONS = {"variant": "variant", "S": "S", "k": "k", "text": "title"}
MOST = 30  # values of which an interval is given
SERIES = 8  # shades of what has no colour of its own


def pivot_page(runs: pd.DataFrame) -> dict:
    """Collect what the pivot table needs: axes, widths of intervals, and by question its question,
    measures and cells.

    factors: by n, half the interval of n values in units of their standard deviation.
    """
    questions = {name: _question(name, rows) for name, rows in runs.groupby("question")}
    factors = [None, None, *(interval_factor(n) for n in range(2, MOST + 1))]
    cells = {
        "axes": [*DIMENSIONS],
        "questions": questions,
        "factors": factors,
        "shades": [*map(on_page, shades(SERIES))],
    }
    return {
        "title": "Pivot table",
        "provenance": describe_runs(runs, name_badges(runs)),
        "cells": cells,
    }


def _question(name: str, runs: pd.DataFrame) -> dict:
    """Collect one question's cells. measures: title, which direction is better, bounds. colours: by
    variant.
    """
    question = load_question(name)
    titles = {title: quantity for quantity, title, _ in question.spec.columns}
    titles |= {"memory, bytes": "memory_train_bytes"}
    titles = {title: quantity for title, quantity in titles.items() if quantity in runs}
    runs = as_named(runs)
    colours = {
        name: on_page(colour) for name, colour in zip(runs["variant"], runs["colour"], strict=True)
    }
    finished = with_titles(runs[runs["status"] == "ok"])
    cells = [
        {axis: _plain(value) for axis, value in zip(DIMENSIONS, key, strict=True)}
        | {title: _by_seed(group, quantity) for title, quantity in titles.items()}
        | {"run": f"{runs_at(name)}{group['digest'].iloc[0]}.html"}
        for key, group in finished.groupby([*DIMENSIONS.values()], dropna=False, sort=False)
    ]
    measures = [
        (
            title,
            REGISTRY[quantity].better,
            [each if math.isfinite(each) else None for each in bounds_of(quantity)],
        )
        for title, quantity in titles.items()
    ]
    return {"question": question.question, "measures": measures, "cells": cells, "colours": colours}


def _by_seed(runs: pd.DataFrame, quantity: str) -> dict:
    """Map each seed, or turn of a timing, to its value; a count per configuration has one value,
    under no seed.

    A cost stands under what measured it, so that the page divides it by none of another backend or
    machine.
    """
    if quantity in TIMED:
        row = take_cost_row(runs)
        (clock,) = clocks(row)
        made = f"{clock}, {_made(row.iloc[0], 'throughput')}"
        values = {
            f"{turn} {made}": value for turn, value in enumerate(turn_values(row.iloc[0], quantity))
        }
    elif quantity in MEASURED_BY:
        row = take_cost_row(runs).iloc[0]
        values = {_made(row, MEASURED_BY[quantity]): row[quantity]}
    else:
        values = dict(zip(runs["seed"].astype(str), runs[quantity], strict=True))
    return {seed: _plain(value) for seed, value in values.items() if not pd.isna(value)}


def _made(row: pd.Series, kind: str) -> str:
    """Name the code and the machine that measured a cost."""
    return f"{row.get(f'{kind}_backend')}, {row.get(f'{kind}_machine')}"


def _plain(value):
    """Return the value as JSON has it: None for a missing number, an integer for a whole one."""
    if isinstance(value, str):
        return value
    return None if pd.isna(value) else int(value) if float(value).is_integer() else float(value)
