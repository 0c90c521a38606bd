"""Name in the SVG of a figure which rows of its numbers each mark shows, for a page to tell."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.cbook import flatten
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D

from workflow.results.numbers import missing, to_digits
from workflow.results.registry import REGISTRY
from workflow.results.statistics import half_width

ID = re.compile(r'\sid="(shows|cells|with)-([\d-]+)"')
ROWS = re.compile(r' data-(?:rows|with)="([\d ]+)"')
NAMES = ("label", "variant")  # columns of which the first that is known is what a mark is of
VALUES = ("mean", "value", "score")  # columns whose interval is in `low` and `high`
UNTOLD = (
    *NAMES,
    "low",
    "high",
    "colour",
    "points",
    "runs",
    "baseline_runs",
    "published",
    "digest",
    "unmoved",
)


@dataclass(frozen=True)
class Told:
    """What the marks of a figure answer on a page.

    names: of the values. rows: by the number of the row.
    """

    names: tuple[str, ...]
    rows: dict[int, "ToldRow"]

    def as_json(self) -> dict:
        """Return what the page's script reads; empty where no mark answers."""
        if not self.rows:
            return {}
        rows = {}
        for number, row in self.rows.items():
            rows[number] = [row.variant, row.values, row.runs, row.baseline_runs]
        return {"names": list(self.names), "rows": rows}


@dataclass(frozen=True)
class ToldRow:
    """What one row says: its variant, its values as text, and the runs behind them.

    runs, baseline_runs: the digest of each, and its value where there is one.
    """

    variant: str
    values: list[str | None]
    runs: list[list[str]]
    baseline_runs: list[list[str]]


def shows(drawn, rows: Iterable[int]) -> None:
    """Say which rows of the figure's numbers an artist shows, a row for each of its points.

    drawn: a line or what `errorbar` returns; parts after the first have no answer of their own and
    go with it. rows: labels of the index of the numbers. Points that are not finite are not drawn,
    and their rows are left out.
    """
    line, *others = [part for part in flatten([drawn]) if part is not None]
    rows = list(rows)
    points = np.zeros((len(rows), 2))
    if isinstance(line, Line2D):
        points = np.asarray(line.get_xydata(), float)
    is_drawn = np.isfinite(points).all(axis=1)
    kept = []
    for row, has_place in zip(rows, is_drawn, strict=True):
        if has_place:
            kept.append(str(row))
    if not kept:
        return
    kind = "cells" if isinstance(line, QuadMesh) else "shows"
    line.set_gid(f"{kind}-{'-'.join(kept)}")
    for number, other in enumerate(others):
        other.set_gid(f"with-{kept[0]}-{number}")


def answering(svg: str) -> str:
    """Turn the ids that `shows` wrote into attributes that a page's script reads."""
    return ID.sub(_attribute, svg)


def _attribute(mark: re.Match) -> str:
    kind, rows = mark.groups()
    if kind == "with":
        return f' data-with="{rows.split("-")[0]}"'
    return f' data-rows="{rows.replace("-", " ")}"'


def tell(numbers: pd.DataFrame, svg: str) -> Told:
    """Tell what each row of a figure's numbers answers that a mark of its picture shows."""
    shown = {int(row) for rows in ROWS.findall(svg) for row in rows.split()}
    name_columns = [name for name in NAMES if name in numbers]
    columns = [column for column in numbers if _is_told(column)]
    rows = {}
    shown_rows = numbers.loc[sorted(shown)].to_dict("index")
    for number, row in shown_rows.items():
        names = [str(row[name]) for name in name_columns if not missing(row[name])]
        rows[number] = ToldRow(
            variant=names[0] if names else "",
            values=[_value(row, column) for column in columns],
            runs=_runs(row, "runs"),
            baseline_runs=_runs(row, "baseline_runs"),
        )
    return Told(tuple(_title(column) for column in columns), rows)


def _is_told(column: str) -> bool:
    return column not in UNTOLD and not column.endswith(("_low", "_high"))


def _title(column: str) -> str:
    return REGISTRY[column].title if column in REGISTRY else column.replace("_", " ")


def _value(row: Mapping, column: str) -> str | None:
    """Write a value, with its interval where it has one; None where it is missing."""
    value = row[column]
    if missing(value):
        return None
    if isinstance(value, str | bool):
        return str(value)
    prefix = "" if column in VALUES else f"{column}_"
    low = row.get(f"{prefix}low")
    high = row.get(f"{prefix}high")
    if missing(low) or missing(high) or low == high:
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    half = half_width(low, high)
    mean = to_digits(value, half)
    interval = f"{to_digits(low, half)} to {to_digits(high, half)}"
    return f"{mean} ({interval})"


def _runs(row: Mapping, column: str) -> list[list[str]]:
    """Read what `name_runs` wrote: the digest of each run, and its value where there is one."""
    named = row.get(column)
    if not isinstance(named, str):
        return []
    return [run.split("=") for run in named.split()]
