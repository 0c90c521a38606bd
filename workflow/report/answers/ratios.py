"""What a variant costs compared with its baseline, as ratios of costs that the same code measured
on one machine.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from workflow.claims.measures import COUNTED
from workflow.report.answers.answer import COST_TITLES, Ratio
from workflow.report.answers.effects import GRID, axes_of, matching_runs
from workflow.results.makers import Makers, makers_of
from workflow.results.numbers import is_number, join, quoted
from workflow.results.timings import SPEEDS, by_turn, ratio_of_turns, told_apart
from workflow.results.trained_enough import hardly_moved

WORTH = 0.02  # a cost that differs by a smaller share is left out
NAMED = 3  # the growth along a grid is given for so many variants at most


@dataclass(frozen=True)
class Costs:
    """The cost ratios of a question.

    ratios: of each variant at its largest S and k, in the order of the variants and of
    `COST_TITLES`.
    apart: (variant, title of a cost) -> why the two measurements cannot be compared.
    """

    ratios: tuple[Ratio, ...]
    apart: dict[tuple[str, str], str]


@dataclass(frozen=True)
class Measured:
    """The costs of one variant at one place, by quantity.

    means: by corpus, over configurations. turns: of speeds, by (corpus, clock, turn). makers: what
    measured them.
    """

    means: dict[str, dict[str, float]]
    turns: dict[str, dict[tuple, float]]
    makers: dict[str, Makers | None]


class CostTable:
    """The costs of every variant of a question, read once however many baselines they are compared
    with.

    runs: at the scale's own size, failed ones included. Models whose learned spans have hardly
    moved are left out: they cost what they cost at their start.
    """

    def __init__(self, runs: pd.DataFrame, finished: pd.DataFrame):
        self._every = dict(iter(runs.groupby("variant", sort=False)))
        self._largest = {
            variant: largest(rows) for variant, rows in finished.groupby("variant", sort=False)
        }
        self._moved = finished[~hardly_moved(finished)].index
        self._known: dict[tuple, Measured] = {}

    def ratios(self, of: Mapping[str, str]) -> Costs:
        """Compare every variant with its baseline, at the variant's largest S and k. of: variant ->
        baseline.

        Ratios near 1, and speeds whose interval over rounds holds 1, are left out.
        """
        ratios: list[Ratio] = []
        apart: dict[tuple[str, str], str] = {}
        for variant, base in of.items():
            if variant not in self._largest or base not in self._every:
                continue
            S, k = self._place(variant)
            ours = self._measured((variant,), self._largest[variant])
            theirs = self._measured((base, S, k), matching_runs(self._every[base], S, k))
            for name, title in COST_TITLES.items():
                makers = ours.makers.get(name), theirs.makers.get(name)
                why = makers[0].why_apart(makers[1], base) if all(makers) else None
                if why:
                    apart[variant, title] = why
                elif found := _ratio_of(ours, theirs, name):
                    ratios.append(Ratio(variant, base, S, k, name, *found))
        return Costs(tuple(ratios), apart)

    def _place(self, variant: str) -> tuple[float | None, float | None]:
        first = self._largest[variant].iloc[0]
        S, k = (None if pd.isna(first[axis]) else float(first[axis]) for axis in GRID)
        return S, k

    def _measured(self, key: tuple, rows: pd.DataFrame) -> Measured:
        if key not in self._known:
            self._known[key] = _measure(rows[rows.index.isin(self._moved)])
        return self._known[key]


def _measure(rows: pd.DataFrame) -> Measured:
    """Read the costs of one variant at one place; MACs of learned spans differ between seeds."""
    known = [name for name in COST_TITLES if name in rows]
    by_configuration = (
        rows.groupby(["corpus", "configuration"])[known].mean().groupby("corpus").mean()
    )
    means = {name: by_configuration[name].dropna().to_dict() for name in known}
    turns = {name: by_turn(rows, name) for name in known if name in SPEEDS}
    return Measured(means, turns, {name: makers_of(rows, name) for name in known})


def _ratio_of(
    ours: Measured, theirs: Measured, name: str
) -> tuple[float, float | None, float | None] | None:
    """Divide a cost by that of the base: value, low, high; None where it differs by less than is
    worth telling.
    """
    low = high = None
    if name in SPEEDS:
        shown = ratio_of_turns(ours.turns.get(name, {}), theirs.turns.get(name, {}))
        value = shown["value"] if shown["value"] and told_apart(shown) else math.nan
        low, high = shown["low"], shown["high"]
    else:
        shared = {*ours.means.get(name, {})} & {*theirs.means.get(name, {})}
        part, whole = (
            sum(side.means.get(name, {}).get(each, 0) for each in shared) for side in (ours, theirs)
        )
        value = part / whole if whole else math.nan
    if not is_number(value) or abs(value - 1) < max(WORTH, COUNTED.get(name, 0)):
        return None
    return value, low, high


def ratio_of_means(rows: pd.DataFrame, base: pd.DataFrame, quantity: str) -> float:
    """Divide means over configurations, on the corpora that both have; NaN where one is missing or
    the other 0.
    """
    shared = {*rows["corpus"]} & {*base["corpus"]}
    sides = (side[side["corpus"].isin(shared)] for side in (rows, base))
    part, whole = (side.groupby("configuration")[quantity].mean().mean() for side in sides)
    return part / whole if whole else math.nan


def largest(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the runs at the largest S and k that a variant has."""
    for axis in GRID:
        if rows[axis].notna().any():
            rows = rows[rows[axis] == rows[axis].max()]
    return rows


def growth(finished: pd.DataFrame) -> list[tuple[str, float, float, dict[str, float]]]:
    """Compute how MACs grow along S and k: (axis, its smallest and largest value, ratio by variant)
    for each axis.

    Of a few variants, on the corpora on which all of them have both ends with learned spans that
    moved.
    """
    found = []
    finished = finished[~hardly_moved(finished)]
    for axis in axes_of(finished) if len(finished) else ():
        ends = float(finished[axis].min()), float(finished[axis].max())
        sides = {}
        for variant, rows in list(finished.groupby("variant", sort=False))[:NAMED]:
            if {*ends} <= {*rows[axis]}:
                sides[variant] = _on_both([rows[rows[axis] == end] for end in ends], axis)
        shared = (
            set.intersection(*({*low["corpus"]} for low, _ in sides.values())) if sides else set()
        )
        ratios = {}
        for variant, (low, high) in sides.items():
            ratio = ratio_of_means(
                high[high["corpus"].isin(shared)], low[low["corpus"].isin(shared)], "macs_executed"
            )
            if is_number(ratio):
                ratios[variant] = ratio
        if any(abs(ratio - 1) >= WORTH for ratio in ratios.values()):
            found.append((axis, *ends, ratios))
    return found


def _on_both(sides: list[pd.DataFrame], axis: str) -> list[pd.DataFrame]:
    """Select, at both ends of an axis, the corpora and places of the other axis that both have."""
    others = [name for name in ("corpus", *GRID) if name != axis]
    low, high = sides
    shared = low[others].drop_duplicates().merge(high[others].drop_duplicates())
    return [low.merge(shared), high.merge(shared)]


def why_no_ratio(apart: dict[tuple[str, str], str]) -> list[str]:
    """Say which costs of which variants are not compared, and why: a sentence for each reason."""
    titles: dict[tuple[str, str], list[str]] = {}
    for (variant, title), why in apart.items():
        titles.setdefault((variant, why), []).append(title)
    variants: dict[tuple[str, str], list[str]] = {}
    for (variant, why), of in titles.items():
        variants.setdefault((join(of), why), []).append(variant)
    return [
        f"No ratio of {of} for {join([*map(quoted, names)])}: {why}."
        for (of, why), names in variants.items()
    ]
