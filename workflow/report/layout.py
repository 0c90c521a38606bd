"""Lay out a table, the same on a page and in LaTeX: our rows, then cited ones; digits by column.

What the papers print has columns of its own, without a difference, unless every number in the
column is comparable with it: see `workflow.report.comparison.is_comparable`. On a page it has a
table of its own, in LaTeX a column.
"""

from dataclasses import dataclass

from workflow.config.missing import Missing
from workflow.report.comparison import ComparedCell
from workflow.report.tables.cells import Cell
from workflow.results.numbers import Form, form_of, is_number, reach
from workflow.results.statistics import FEWEST, half_width

OURS = ("measured", "setting")
# how to read a number, on pages and in LaTeX
IN_TABLES = (
    "± half the 95 % CI over seeds, or over rounds of a timing; "
    f"with fewer than {FEWEST}, the values themselves. "
    "Asymmetric intervals show both ends. Per cent: difference from the paper, where comparable."
)


@dataclass(frozen=True)
class Column:
    """One column. form: of our numbers. apart: whether published ones have a column of their
    own.
    """

    title: str
    unit: str
    form: Form
    apart: bool


def list_rows(cells: list[ComparedCell]) -> list[tuple[str, bool]]:
    """List each row with whether a paper alone fills it; those rows come last."""
    rows = dict.fromkeys(cell.row for cell in cells)
    ours = {cell.row for cell in cells if cell.kind in OURS}
    theirs = {cell.row for cell in cells if cell.kind == "cited"} - ours
    own_first = sorted(rows, key=lambda row: row in theirs)
    return [(row, row in theirs) for row in own_first]


def list_columns(cells: list[ComparedCell]) -> list[Column]:
    """List the columns in the order in which they first occur in the cells."""
    by_title: dict[str, list[ComparedCell]] = {}
    for cell in cells:
        by_title.setdefault(cell.column, []).append(cell)
    return [_column(title, in_column) for title, in_column in by_title.items()]


def _column(title: str, cells: list[ComparedCell]) -> Column:
    units = {cell.unit for cell in cells}
    unit = units.pop() if len(units) == 1 else ""
    published = [cell for cell in cells if cell.published_value is not None]
    comparable = any(cell.comparable for cell in published)
    # what the paper prints for a setting is next to ours
    found = any(cell.kind != "setting" for cell in published)
    values = [cell.value for cell in cells]
    halves = [half_of(cell) for cell in cells]
    return Column(
        title=title,
        unit=unit,
        form=form_of(values, halves, unit),
        apart=found and not comparable,
    )


def half_of(cell: Cell) -> float | None:
    """Return the number behind ±: half the interval, or half the range of the points."""
    if cell.points:
        return (max(cell.points) - min(cell.points)) / 2
    return half_width(cell.low, cell.high) if is_number(cell.high) else None


def text_of(cell: Cell, form: Form) -> str:
    """Write a mean with its interval, the points in place of both, or the value alone."""
    if isinstance(cell.value, Missing):
        return ""
    if cell.points:
        return ", ".join(form.text(point) for point in cell.points)
    text = form.text(cell.value)
    if is_number(cell.low) and is_number(cell.high):
        text += reach(cell.value, cell.low, cell.high, form.text)
    return f"{cell.bound} {text}" if cell.bound else text
