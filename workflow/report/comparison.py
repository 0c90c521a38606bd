"""Compare the cells of a table with what the paper prints for them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

import pandas as pd

from workflow.claims.published import Origin, Published, find
from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell
from workflow.results.numbers import is_number


@dataclass(frozen=True, kw_only=True)
class ComparedCell(Cell):
    """A cell with what the paper prints for it: None or empty where it prints nothing.

    published_value, _unit, _kind, _origin, _note   as in the study: `Published`
    published_where     the same, with the origin
    published_text      the value with the digits that are printed
    published_source    whether it is printed, follows from printed values, or was read off a plot
    conflict            what is known of two sources that disagree
    comparable          whether a difference from the paper means something: `is_comparable`
    difference_pct      from the paper's value, in per cent, where comparable
    texts               the badges of the datasets behind the cell
    """

    published_value: float | str | list | None = None
    published_text: str = ""
    published_unit: str | None = None
    published_kind: str | None = None
    published_origin: Origin | None = None
    published_where: str | None = None
    published_note: str | None = None
    published_source: Literal["published", "inferred", "digitised"] | None = None
    conflict: str | None = None
    comparable: bool = False
    difference_pct: float | None = None
    texts: tuple[str, ...] = ()

    @property
    def published_as(self) -> str:
        """Say in a word where the value comes from, such as `paper` or `by formula`."""
        if self.published_source == "inferred":
            return "by formula" if self.published_kind == "analytic" else "inferred"
        if self.published_source == "digitised":
            return "read off the plot"
        return (self.published_origin or "paper").replace("_", "-")

    def as_record(self) -> dict:
        return super().as_record() | {"texts": list(self.texts)}

    @classmethod
    def from_record(cls, record: Mapping) -> "ComparedCell":
        return super().from_record({**record, "texts": tuple(record.get("texts", ()))})


def compare(cell: Cell) -> ComparedCell:
    """Look up what the paper prints for a cell, and the difference where comparable."""
    ours = {field.name: getattr(cell, field.name) for field in fields(Cell)}
    if cell.published is None:
        return ComparedCell(**ours)
    published = find(cell.published)
    comparable = is_comparable(cell, published)
    return ComparedCell(
        **ours,
        published_value=published.plain,
        published_text=published.text,
        published_unit=published.unit,
        published_kind=published.kind,
        published_origin=published.origin,
        published_where=published.place_seen,
        published_note=published.note,
        published_source=published.source,
        conflict=published.conflict,
        comparable=comparable,
        difference_pct=_difference_pct(cell, published) if comparable else None,
    )


def join(cells: pd.DataFrame) -> pd.DataFrame:
    """Add to the cells of a table what the paper prints, as `ComparedCell` without `texts`."""
    compared = [compare(Cell.from_record(row)) for row in cells.to_dict("records")]
    columns = [field.name for field in fields(ComparedCell) if field.name != "texts"]
    return pd.DataFrame([cell.as_record() for cell in compared], columns=columns)


def is_comparable(cell: Cell, published: Published) -> bool:
    """Whether a difference from the paper's value, in per cent, means something.

    It does for what a formula gives, unless the printed number was inferred, and for a ratio of
    costs. It does for a score or a span only if model size and dataset are the paper's. Times and
    memory belong to a machine, and a setting is chosen, not found.
    """
    if cell.kind == "analytic":
        return published.source != "inferred"
    if cell.kind != "measured":
        return False
    return cell.unit == "×" or (published.kind == "trained" and cell.as_the_paper)


def _difference_pct(cell: Cell, published: Published) -> float | None:
    if isinstance(cell.value, Missing):
        return None
    if not is_number(cell.value) or not published.is_number:
        return None
    return 100 * (cell.value / published.number - 1)
