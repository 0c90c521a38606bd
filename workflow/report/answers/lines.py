"""What the figures of every answer share: which lines there are, their colours and marks,
panels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import axes_of
from workflow.report.figures.colours import shades
from workflow.report.figures.style import WIDTH, canvas
from workflow.results.registry import REGISTRY

MARKS = "osD^vPX<>*"
LEGEND = 9  # more lines than this no legend can keep apart
BESIDE = 0.07  # of an octave, between two lines


@dataclass(frozen=True)
class Line:
    """One variant, at one value of the axis that is not drawn where it has several."""

    name: str
    variant: str
    other: float | None
    colour: str
    mark: str

    def rows(self, data: pd.DataFrame, axis: str | None) -> pd.DataFrame:
        mine = data[data["variant"] == self.variant]
        if self.other is None:
            return mine
        return mine[mine["k" if axis == "S" else "S"] == self.other]


def drawn_axis(runs: pd.DataFrame) -> str | None:
    """Return S or k if curves can be drawn over it."""
    return next(iter(axes_of(runs)), None)


def lines_of(runs: pd.DataFrame, axis: str | None) -> list[Line]:
    """List the lines in the order of the question; a variant's line takes its colour, several take
    shades.
    """
    keys, colours, other_axis = [], {}, "k" if axis == "S" else "S"
    for variant, rows in runs.groupby("variant", sort=False):
        others = sorted(rows[other_axis].dropna().unique()) if axis else []
        keys += [(variant, other) for other in others] if len(others) > 1 else [(variant, None)]
        colours[variant] = rows["colour"].iloc[0]
    several = [key for key in keys if key[1] is not None]
    stepped = dict(zip(several, shades(len(several)), strict=True))
    return [
        Line(
            variant if other is None else f"{variant}, {other_axis} = {other:g}",
            variant,
            other,
            stepped.get((variant, other)) or colours[variant],
            MARKS[number % len(MARKS)],
        )
        for number, (variant, other) in enumerate(keys)
    ]


def aside(values: pd.Series, number: int, of: int) -> pd.Series:
    """Shift places on an axis of powers of two a little, so that lines do not hide each other."""
    return values * 2 ** (BESIDE * (number - (of - 1) / 2))


def name_score(quantity: str, title: str) -> str:
    """Label an axis with the score, and which way is better."""
    return f"{title} ({REGISTRY[quantity].better} is better)"


def panels(number: int, columns: int, height: float, width: float = WIDTH, **options):
    """Make a number of axes in rows of `columns`; the rest of the last row is left out."""
    columns = min(columns, number)
    figure, axes = canvas(
        columns, rows=-(-number // columns), width=width, height=height, squeeze=False, **options
    )
    for spare in axes.flat[number:]:
        spare.set_visible(False)
    return figure, axes.flat[:number]


def texts_of(data: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    return iter(data.groupby("text", sort=False))
