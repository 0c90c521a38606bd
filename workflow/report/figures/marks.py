"""What the marks of a figure show: rows of its numbers, named in the SVG, so that a page can answer
a pointer.
"""

import re
from collections.abc import Iterable

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
VALUES = ("mean", "value", "score")  # columns whose interval stands in `low` and `high`
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


def shows(drawn, rows: Iterable[int]) -> None:
    """Say which rows of the figure's numbers an artist shows, a row for each of its points.

    drawn: a line or what `errorbar` returns; parts after the first have no answer of their own and
    go with it. rows: labels of the index of the numbers. Points that are not finite are not drawn,
    and their rows are left out.
    """
    line, *others = [part for part in flatten([drawn]) if part is not None]
    rows = [*rows]
    points = (
        np.asarray(line.get_xydata(), float)
        if isinstance(line, Line2D)
        else np.zeros((len(rows), 2))
    )
    kept = [row for row, point in zip(rows, points, strict=True) if np.isfinite(point).all()]
    if kept:
        line.set_gid(
            f"{'cells' if isinstance(line, QuadMesh) else 'shows'}-{'-'.join(map(str, kept))}"
        )
        for number, other in enumerate(others):
            other.set_gid(f"with-{kept[0]}-{number}")


def answering(svg: str) -> str:
    """Turn the ids that `shows` wrote into attributes that a page's script reads."""

    def attribute(mark: re.Match) -> str:
        kind, rows = mark.groups()
        return (
            f' data-with="{rows.split("-")[0]}"'
            if kind == "with"
            else f' data-rows="{rows.replace("-", " ")}"'
        )

    return ID.sub(attribute, svg)


def tell(numbers: pd.DataFrame, svg: str) -> dict:
    """Say of each row of a figure's numbers that a mark of its picture shows what the mark answers.

    names: of the values. rows: by number: the variant, its values as text, and digest and value of
    each of its runs, and of each that it is compared with.
    """
    shown = {int(row) for rows in ROWS.findall(svg) for row in rows.split()}
    names = [name for name in NAMES if name in numbers]
    kinds = [
        name for name in numbers if name not in UNTOLD and not name.endswith(("_low", "_high"))
    ]
    rows = numbers.loc[sorted(shown)].to_dict("index")
    told = {
        number: [
            next((str(row[name]) for name in names if not missing(row[name])), ""),
            [None if missing(row[kind]) else _value(row, kind) for kind in kinds],
            _runs(row, "runs"),
            _runs(row, "baseline_runs"),
        ]
        for number, row in rows.items()
    }
    return {"names": [*map(_title, kinds)], "rows": told} if told else {}


def _title(kind: str) -> str:
    return REGISTRY[kind].title if kind in REGISTRY else kind.replace("_", " ")


def _value(row: dict, kind: str) -> str:
    value = row[kind]
    if isinstance(value, str | bool):
        return str(value)
    low, high = (row.get(end if kind in VALUES else f"{kind}_{end}") for end in ("low", "high"))
    if missing(low) or missing(high) or low == high:
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    half = half_width(low, high)
    return f"{to_digits(value, half)} ({to_digits(low, half)} to {to_digits(high, half)})"


def _runs(row: dict, which: str) -> list[list[str]]:
    """List the runs behind a row, or beside it, each with its value where there is one, as
    `name_runs` wrote them.
    """
    named = row.get(which)
    return [run.split("=") for run in named.split()] if isinstance(named, str) else []
