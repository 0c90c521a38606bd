"""What a variant costs compared with its baseline.

Ratios are of costs that the same code measured on one machine.
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

    def of_variant(self, variant: str) -> tuple[Ratio, ...]:
        found = []
        for ratio in self.ratios:
            if ratio.variant == variant:
                found.append(ratio)
        return tuple(found)


@dataclass(frozen=True)
class Measured:
    """The costs of one variant at one place, by quantity.

    means: by corpus, over configurations. turns: of speeds, by (corpus, clock, turn). makers: what
    measured them.
    """

    means: dict[str, dict[str, float]]
    turns: dict[str, dict[tuple, float]]
    makers: dict[str, Makers | None]


@dataclass(frozen=True)
class Quotient:
    """A ratio with its 95 % interval over rounds; None of what is counted."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Growth:
    """How MACs grow along S or k. low, high: the ends of the axis. ratios: by variant."""

    axis: str
    low: float
    high: float
    ratios: dict[str, float]


class CostTable:
    """The costs of every variant of a question.

    They are read once, however many baselines they are compared with.

    runs: at the scale's own size, failed ones included. Models whose learned spans have hardly
    moved are left out: they cost what they cost at their start.
    """

    def __init__(self, runs: pd.DataFrame, finished: pd.DataFrame):
        self._every = dict(iter(runs.groupby("variant", sort=False)))
        self._largest = {}
        for variant, rows in finished.groupby("variant", sort=False):
            self._largest[variant] = largest(rows)
        has_moved = ~hardly_moved(finished)
        self._moved = finished[has_moved].index
        self._known: dict[tuple, Measured] = {}

    def ratios(self, of: Mapping[str, str]) -> Costs:
        """Compare every variant with its baseline, at the variant's largest S and k.

        of: variant -> baseline. Ratios near 1, and speeds whose interval over rounds holds 1, are
        left out.
        """
        ratios: list[Ratio] = []
        apart: dict[tuple[str, str], str] = {}
        for variant, base in of.items():
            if variant not in self._largest or base not in self._every:
                continue
            S, k = self._place(variant)
            ours = self._measured((variant,), self._largest[variant])
            of_base = matching_runs(self._every[base], S, k)
            theirs = self._measured((base, S, k), of_base)
            for name, title in COST_TITLES.items():
                why = _why_apart(ours, theirs, name, base)
                if why:
                    apart[variant, title] = why
                    continue
                found = _divide(ours, theirs, name)
                if found:
                    ratio = Ratio(
                        variant=variant,
                        baseline=base,
                        S=S,
                        k=k,
                        quantity=name,
                        value=found.value,
                        low=found.low,
                        high=found.high,
                    )
                    ratios.append(ratio)
        return Costs(tuple(ratios), apart)

    def _place(self, variant: str) -> tuple[float | None, float | None]:
        first = self._largest[variant].iloc[0]
        S = _known(first["S"])
        k = _known(first["k"])
        return S, k

    def _measured(self, key: tuple, rows: pd.DataFrame) -> Measured:
        if key not in self._known:
            has_moved = rows.index.isin(self._moved)
            self._known[key] = _measure(rows[has_moved])
        return self._known[key]


def _known(value: float) -> float | None:
    if pd.isna(value):
        return None
    return float(value)


def _measure(rows: pd.DataFrame) -> Measured:
    """Read the costs of one variant at one place; MACs of learned spans differ between seeds."""
    known = [name for name in COST_TITLES if name in rows]
    by_configuration = rows.groupby(["corpus", "configuration"])[known].mean()
    by_corpus = by_configuration.groupby("corpus").mean()
    means = {}
    turns = {}
    makers = {}
    for name in known:
        means[name] = by_corpus[name].dropna().to_dict()
        makers[name] = makers_of(rows, name)
        if name in SPEEDS:
            turns[name] = by_turn(rows, name)
    return Measured(means, turns, makers)


def _why_apart(ours: Measured, theirs: Measured, name: str, base: str) -> str | None:
    """Say why two measurements of a cost cannot be compared; None where they can, or lack."""
    mine = ours.makers.get(name)
    other = theirs.makers.get(name)
    if not mine or not other:
        return None
    return mine.why_apart(other, base)


def _divide(ours: Measured, theirs: Measured, name: str) -> Quotient | None:
    """Divide a cost by that of the base; None where it differs by less than is worth telling."""
    if name in SPEEDS:
        found = _divide_speeds(ours, theirs, name)
    else:
        ratio = _divide_counts(ours, theirs, name)
        found = Quotient(ratio, None, None)
    if not is_number(found.value):
        return None
    least = max(WORTH, COUNTED.get(name, 0))
    distance = abs(found.value - 1)
    return found if distance >= least else None


def _divide_speeds(ours: Measured, theirs: Measured, name: str) -> Quotient:
    """Divide speeds round by round; NaN where the interval holds 1."""
    of_ours = ours.turns.get(name, {})
    of_theirs = theirs.turns.get(name, {})
    shown = ratio_of_turns(of_ours, of_theirs)
    value = math.nan
    if shown.value and told_apart(shown):
        value = shown.value
    return Quotient(value, shown.low, shown.high)


def _divide_counts(ours: Measured, theirs: Measured, name: str) -> float:
    """Divide the sums over the corpora that both have; NaN without one."""
    mine = ours.means.get(name, {})
    other = theirs.means.get(name, {})
    shared = {*mine} & {*other}
    part = sum(mine[corpus] for corpus in shared)
    whole = sum(other[corpus] for corpus in shared)
    return part / whole if whole else math.nan


def ratio_of_means(rows: pd.DataFrame, base: pd.DataFrame, quantity: str) -> float:
    """Divide means over configurations, on the corpora that both have.

    NaN where one is missing or the base's is 0.
    """
    shared = {*rows["corpus"]} & {*base["corpus"]}
    part = _mean_on(rows, shared, quantity)
    whole = _mean_on(base, shared, quantity)
    return part / whole if whole else math.nan


def _mean_on(rows: pd.DataFrame, corpora: set[str], quantity: str) -> float:
    is_on = rows["corpus"].isin(corpora)
    by_configuration = rows[is_on].groupby("configuration")
    means = by_configuration[quantity].mean()
    return means.mean()


def largest(rows: pd.DataFrame) -> pd.DataFrame:
    """Select the runs at the largest S and k that a variant has."""
    for axis in GRID:
        values = rows[axis]
        if values.notna().any():
            rows = rows[values == values.max()]
    return rows


def growth(finished: pd.DataFrame) -> list[Growth]:
    """Compute how MACs of a few variants grow along S and k.

    Only the corpora count on which all of them have both ends, with learned spans that moved.
    """
    has_moved = ~hardly_moved(finished)
    finished = finished[has_moved]
    axes = axes_of(finished) if len(finished) else []
    found = []
    for axis in axes:
        low = float(finished[axis].min())
        high = float(finished[axis].max())
        sides = _ends_of(finished, axis, low, high)
        ratios = _ratios_of_ends(sides)
        if any(abs(ratio - 1) >= WORTH for ratio in ratios.values()):
            found.append(Growth(axis, low, high, ratios))
    return found


def _ends_of(
    finished: pd.DataFrame, axis: str, low: float, high: float
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Select for a few variants the runs at both ends of an axis."""
    sides = {}
    by_variant = list(finished.groupby("variant", sort=False))
    for variant, rows in by_variant[:NAMED]:
        values = rows[axis]
        at_low = rows[values == low]
        at_high = rows[values == high]
        if len(at_low) and len(at_high):
            sides[variant] = _on_both(at_low, at_high, axis)
    return sides


def _on_both(low: pd.DataFrame, high: pd.DataFrame, axis: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Select, at both ends of an axis, the corpora and places of the other axis that both have."""
    others = ["corpus", *GRID]
    others.remove(axis)
    of_low = low[others].drop_duplicates()
    of_high = high[others].drop_duplicates()
    shared = of_low.merge(of_high)
    low = low.merge(shared)
    high = high.merge(shared)
    return low, high


def _ratios_of_ends(sides: dict[str, tuple[pd.DataFrame, pd.DataFrame]]) -> dict[str, float]:
    """Divide the MACs at one end by those at the other, on the corpora that all variants have."""
    if not sides:
        return {}
    corpora = [set(low["corpus"]) for low, _ in sides.values()]
    shared = set.intersection(*corpora)
    ratios = {}
    for variant, (low, high) in sides.items():
        at_low = low[low["corpus"].isin(shared)]
        at_high = high[high["corpus"].isin(shared)]
        ratio = ratio_of_means(at_high, at_low, "macs_executed")
        if is_number(ratio):
            ratios[variant] = ratio
    return ratios


def why_no_ratio(apart: dict[tuple[str, str], str]) -> list[str]:
    """Say which costs of which variants are not compared, a sentence for each reason."""
    costs: dict[tuple[str, str], list[str]] = {}
    for (variant, title), why in apart.items():
        titles = costs.setdefault((variant, why), [])
        titles.append(title)
    # variants that lack the same costs for the same reason share a sentence
    variants: dict[tuple[str, str], list[str]] = {}
    for (variant, why), titles in costs.items():
        names = variants.setdefault((join(titles), why), [])
        names.append(quoted(variant))
    lines = []
    for (titles, why), names in variants.items():
        of = join(names)
        lines.append(f"No ratio of {titles} for {of}: {why}.")
    return lines
