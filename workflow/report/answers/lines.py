"""What the figures of every answer share: lines with their colours and marks, and panels.

A line has the colour of its variant, which `workflow.report.figures.colours.as_named` puts in the
column `colour` of the runs.
"""

import math
from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.effects import GRID, axes_of
from workflow.report.figures.colours import shades
from workflow.report.figures.style import WIDTH, canvas, fold
from workflow.results.registry import REGISTRY

MARKS = "osD^vPX<>*"
LEGEND = 9  # more lines than this no legend can keep apart
SHIFT = 0.07  # of an octave, between two lines
UP = 2.2  # inches of a title along the axis of the score


@dataclass(frozen=True)
class Line:
    """One variant, at one value of the axis that is not drawn where it has several.

    other: that value; None where the variant has one. colour: as hex. mark: as matplotlib names it.
    """

    name: str
    variant: str
    other: float | None
    colour: str
    mark: str

    def rows(self, data: pd.DataFrame, axis: str | None) -> pd.DataFrame:
        """Select the rows of the line. axis: the one that is drawn."""
        mine = data[data["variant"] == self.variant]
        if self.other is None:
            return mine
        others = mine[_other(axis)]
        return mine[others == self.other]


def _other(axis: str | None) -> str:
    """Return the axis that is not drawn."""
    S, k = GRID
    return k if axis == S else S


def drawn_axis(runs: pd.DataFrame) -> str | None:
    """Return S or k if curves can be drawn over it."""
    return next(iter(axes_of(runs)), None)


def lines_of(runs: pd.DataFrame, axis: str | None) -> list[Line]:
    """List the lines in the order of the question.

    The only line of a variant takes its colour; several lines of one take shades.
    """
    not_drawn = _other(axis)
    places: list[tuple[str, float | None]] = []
    colours = {}
    several = []
    for variant, rows in runs.groupby("variant", sort=False):
        colours[variant] = rows["colour"].iloc[0]
        others = sorted(rows[not_drawn].dropna().unique()) if axis else []
        if len(others) < 2:
            places.append((variant, None))
            continue
        of_variant = [(variant, other) for other in others]
        places += of_variant
        several += of_variant
    shade_of = dict(zip(several, shades(len(several)), strict=True))
    lines = []
    for number, place in enumerate(places):
        variant, other = place
        name = variant
        if other is not None:
            name = f"{variant}, {not_drawn} = {other:g}"
        line = Line(
            name=name,
            variant=variant,
            other=other,
            colour=shade_of.get(place) or colours[variant],
            mark=MARKS[number % len(MARKS)],
        )
        lines.append(line)
    return lines


def shift_places(values: pd.Series, number: int, of: int) -> pd.Series:
    """Shift places on an axis of powers of two a little, so that lines do not hide each other."""
    from_middle = number - (of - 1) / 2
    octaves = SHIFT * from_middle
    return values * 2**octaves


def name_score(quantity: str, title: str) -> str:
    """Label an axis with the score, and which way is better if one is."""
    better = REGISTRY[quantity].better
    return f"{title} ({better} is better)" if better else title


def label_up(quantity: str, title: str) -> str:
    """Fold the label of an axis of scores that points up."""
    return fold(name_score(quantity, title), UP)


def panels(number: int, columns: int, height: float, width: float = WIDTH, **options):
    """Make a number of axes in rows of `columns`; the rest of the last row is left out."""
    columns = min(columns, number)
    rows = math.ceil(number / columns)
    figure, axes = canvas(
        columns,
        rows=rows,
        width=width,
        height=height,
        squeeze=False,
        **options,
    )
    shown = axes.flat[:number]
    for spare in axes.flat[number:]:
        spare.set_visible(False)
    return figure, shown
