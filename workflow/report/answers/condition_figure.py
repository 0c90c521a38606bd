"""The score over the condition that a task varies when it tests a model, such as the length."""

import math

import pandas as pd
from matplotlib.figure import Figure

from workflow.report.answers.lines import Line, label_up, lines_of, panels
from workflow.report.figures.colours import as_named
from workflow.report.figures.style import (
    DASHES,
    bars_of,
    draw_curve,
    fold,
    set_powers,
    share_legend,
)
from workflow.report.tables.cells import summarise
from workflow.results.conditions import AT, SAMPLES, over_condition
from workflow.results.datasets import with_badge
from workflow.results.registry import REGISTRY, of_samples
from workflow.results.statistics import wilson_interval
from workflow.results.trained_enough import CONFIGURATION, SPANS
from workflow.tasks.task import Condition

PLACE = ["text", "variant", "colour", "S", "k"]
# of a run, besides its scores
READ = [*PLACE, "digest", "status", "over_condition", "span", *SPANS, *CONFIGURATION]
WHISKERS = ["samples_low", "samples_high"]


def data(runs: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Make a row per variant, place of its grid and value of the condition: the mean over seeds.

    A share of samples of a single seed has its interval over samples: `WHISKERS`.
    """
    # A run has hundreds of columns, which would be copied to each value of its condition. Its own
    # score is not that at a value without one.
    named = with_badge(as_named(runs)).filter(READ)
    scored = over_condition(named.assign(**{quantity: math.nan}))
    if not len(scored):
        return pd.DataFrame()
    numbers = summarise(scored, [*PLACE, AT], quantity)
    if of_samples(quantity):
        numbers = _with_whiskers(numbers, scored)
    # in the order of the question
    ranks = {column: _ranks(scored[column]) for column in ("text", "variant")}
    return numbers.sort_values(
        [*ranks],
        key=lambda names: names.map(ranks[names.name]),
        kind="stable",
        ignore_index=True,
    )


def _with_whiskers(numbers: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Add the intervals over samples, where a single seed leaves no interval over seeds."""
    # Seeds of a configuration are scored on equally many samples.
    samples = scored.groupby([*PLACE, AT], dropna=False)[SAMPLES].first().reset_index()
    numbers = numbers.merge(samples, on=[*PLACE, AT], how="left")
    whiskers = []
    for row in numbers.to_dict("records"):
        is_single = row["n"] == 1
        whiskers.append(wilson_interval(row["mean"], row[SAMPLES]) if is_single else (None, None))
    numbers[WHISKERS] = pd.DataFrame(whiskers, numbers.index, dtype=float)
    return numbers.drop(columns=SAMPLES)


def has_whiskers(numbers: pd.DataFrame) -> bool:
    return numbers.reindex(columns=WHISKERS).notna().any(axis=None)


def _ranks(names: pd.Series) -> dict[str, int]:
    """Number names in the order in which they first occur."""
    return {name: rank for rank, name in enumerate(names.unique())}


def draw(data: pd.DataFrame, quantity: str, title: str, condition: Condition) -> Figure:
    """Draw a panel for each dataset, and in it a curve for each variant."""
    datasets = list(data.groupby("text", sort=False))
    lines = lines_of(data, axis="S")
    figure, every = panels(len(datasets), 2, 2.8)
    for axes, (dataset, rows) in zip(every, datasets, strict=True):
        for number, line in enumerate(lines):
            _draw_line(axes, line, rows, number)
        axes.set_title(fold(dataset), parse_math=False)
        axes.set_xlabel(fold(condition.title))
        axes.set_ylabel(label_up(quantity, title))
        if condition.scale == "log":
            values = sorted(rows[AT].unique())
            set_powers(axes.xaxis, {value: f"{value:g}" for value in values})
        if REGISTRY[quantity].scale == "log":
            _set_octaves(axes, rows["mean"])
    share_legend(figure)
    return figure


def _set_octaves(axes, values: pd.Series) -> None:
    """Give the axis upwards a scale of powers of two, which names every second of them."""
    positive = values[values > 0]
    if len(positive):
        first, last = (round(math.log2(each)) for each in (positive.min(), positive.max()))
        set_powers(axes.yaxis, {2.0**each: f"{2.0**each:g}" for each in range(first, last + 1, 2)})


def _draw_line(axes, line: Line, rows: pd.DataFrame, number: int) -> None:
    mine = line.rows(rows, "S")
    dashes = DASHES[number % len(DASHES)]
    draw_curve(axes, mine, AT, line.colour, line.name, marker=line.mark, ls=dashes, lw=1.2)
    if has_whiskers(mine):
        single = mine.dropna(subset=WHISKERS)
        lengths = bars_of(single, "mean", *WHISKERS)
        look = {"fmt": "none", "ecolor": line.colour, "elinewidth": 0.8, "capsize": 2}
        axes.errorbar(single[AT], single["mean"], lengths, **look)
