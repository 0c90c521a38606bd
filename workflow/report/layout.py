"""Lay out a table, the same on a page and in LaTeX: our rows first, then cited ones; each column
with its digits.

What the papers print stands apart, without a difference, unless every number in the column is
comparable with it: see `workflow.report.comparison.is_comparable`. On a page it has a table of its
own, in LaTeX a column.
"""

from dataclasses import dataclass

from workflow.results.numbers import Form, form_of, is_number, reach
from workflow.results.statistics import FEWEST, half_width

OURS = ("measured", "setting")
IN_TABLES = (  # how to read a number, on pages and in LaTeX
    f"± half the 95 % CI over seeds, or over rounds of a timing; with fewer than {FEWEST}, the values themselves. "
    "Asymmetric intervals show both ends. Per cent: difference from the paper, where comparable."
)


@dataclass(frozen=True)
class Column:
    """One column. form: of our numbers. apart: whether published ones stand apart from ours."""

    title: str
    unit: str
    form: Form
    apart: bool


def list_rows(cells: list[dict]) -> list[tuple[str, bool]]:
    """List each row with whether it is only cited, a row of a paper that holds nothing of ours;
    those come last.
    """
    rows = dict.fromkeys(cell["row"] for cell in cells)
    ours = {cell["row"] for cell in cells if cell["kind"] in OURS}
    theirs = {cell["row"] for cell in cells if cell["kind"] == "cited"} - ours
    return [(row, row in theirs) for row in sorted(rows, key=lambda row: row in theirs)]


def list_columns(cells: list[dict]) -> list[Column]:
    """List the columns in the order in which they first occur in the cells."""
    titles = dict.fromkeys(cell["column"] for cell in cells)
    return [_column(title, [cell for cell in cells if cell["column"] == title]) for title in titles]


def _column(title: str, cells: list[dict]) -> Column:
    units = {cell["unit"] for cell in cells}
    unit = units.pop() if len(units) == 1 else ""
    published = [cell for cell in cells if cell["published_value"] is not None]
    # what the paper prints for a setting stands beside ours
    apart = not any(cell["comparable"] for cell in published) and any(
        cell["kind"] != "setting" for cell in published
    )
    form = form_of((cell["value"] for cell in cells), map(half_of, cells), unit)
    return Column(title, unit, form, apart)


def half_of(cell: dict) -> float | None:
    """Return the number behind ±, half the interval, or half the range of the points that stand in
    its place.
    """
    if cell["points"]:
        return (max(cell["points"]) - min(cell["points"])) / 2
    return half_width(cell["low"], cell["high"]) if is_number(cell["high"]) else None


def text_of(cell: dict, form: Form) -> str:
    """Write a mean with its interval, the points that stand in place of both, or the value
    alone.
    """
    if cell["points"]:
        return ", ".join(map(form.text, cell["points"]))
    value, low, high = cell["value"], cell["low"], cell["high"]
    return form.text(value) + (
        reach(value, low, high, form.text) if is_number(low) and is_number(high) else ""
    )
