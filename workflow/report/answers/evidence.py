"""The runs behind an answer, named and selected, and every variant compared with its baseline."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.answers.answer import Difference
from workflow.report.answers.effects import (
    Comparison,
    Effect,
    Place,
    axes_of,
    change_along,
    compare_places,
    list_places,
)
from workflow.report.answers.ratios import CostTable
from workflow.report.figures.colours import as_named
from workflow.results.datasets import with_titles
from workflow.results.statistics import holm
from workflow.results.trained_enough import hardly_moved
from workflow.tasks.spec import TaskSpec

NAMED = 3  # the changes of so many variants along a grid are given


@dataclass(frozen=True)
class Evidence:
    """Runs that are all tuned, or all of the recipe; `title` names the corpus, `variant` is the
    name that pages show.

    quantity, unit: of the score that is compared. tokens: what a model predicts, `characters`.
    runs: at every size, failed ones included. own: of them those at the scale's own size.
    finished: of these those that ended well and have a score.
    scored: `runs`, without the scores of models whose learned spans have hardly moved.
    places: every variant at each S and k, at the scale's own size, with the scores of `scored`.
    costs: what the variants cost. changes: how scores change along the grids.
    of: variant -> the baseline that it is compared with.
    comparisons: of `places`; an effect is None where a variant and its baseline have no pair.
    differences: those with an effect, Holm-corrected for their number.
    """

    quantity: str
    unit: str
    tokens: str
    runs: pd.DataFrame
    own: pd.DataFrame
    finished: pd.DataFrame
    scored: pd.DataFrame
    places: list[Place]
    costs: CostTable
    changes: list["Change"]
    of: dict[str, str]
    comparisons: list[Comparison]
    differences: list[Difference]

    @property
    def corpora(self) -> list[str]:
        """List the corpora on which something was compared, or else trained."""
        compared = {corpus for each in self.differences for corpus in each.by_corpus}
        read = [*self.finished["title"].unique()]
        return [corpus for corpus in read if corpus in compared] or read

    @property
    def axes(self) -> list[str]:
        """List S and k if a variant has several of them."""
        return axes_of(self.own) if len(self.own) else []

    @property
    def behind(self) -> pd.DataFrame:
        """Select the finished runs that are in a pair: of the compared variants and corpora, with a
        common seed.
        """
        names = {name for each in self.differences for name in (each.variant, each.baseline)}
        compared = {corpus for each in self.differences for corpus in each.by_corpus}
        runs = self.finished[
            self.finished["variant"].isin(names) & self.finished["title"].isin(compared)
        ]
        return runs[runs.groupby(["title", "seed"])["variant"].transform("nunique") > 1]

    def compared_with(self, of: dict[str, str]) -> "Evidence":
        """Compare the same runs with other baselines. of: variant -> baseline."""
        comparisons = compare_places(self.places, of)
        differences = differences_of(comparisons, self.quantity, self.unit)
        return replace(self, of=of, comparisons=comparisons, differences=differences)


@dataclass(frozen=True)
class Change:
    """How one variant changes from the smallest value of an axis to the largest, averaged over the
    other axis.

    axis: S or k. ends: its smallest and largest value. difference: of the variant to itself.
    """

    axis: str
    ends: tuple[float, float]
    difference: Difference


def weigh(runs: pd.DataFrame, task: TaskSpec, of: dict[str, str]) -> Evidence:
    """Name and select the runs, and compare every variant with its baseline at each S and k. of: as
    `baselines`.
    """
    score = task.columns[0]
    quantity, unit = score.quantity, score.unit
    runs = with_titles(as_named(runs))
    scored = runs.assign(**{quantity: runs[quantity].mask(hardly_moved(runs))})
    own, moved = (each[each["size"] == 1] for each in (runs, scored))
    finished = own[(own["status"] == "ok") & own[quantity].notna()]
    empty = Evidence(
        quantity=quantity,
        unit=unit,
        tokens=task.tokens,
        runs=runs,
        own=own,
        finished=finished,
        scored=scored,
        places=list_places(moved, quantity),
        costs=CostTable(own, finished),
        changes=_changes(moved[moved.index.isin(finished.index)], quantity, unit),
        of={},
        comparisons=[],
        differences=[],
    )
    return empty.compared_with(of)


def _changes(moved: pd.DataFrame, quantity: str, unit: str) -> list[Change]:
    """List how a few variants change along each axis; changes over too few seeds are left out."""
    found = []
    for axis in axes_of(moved) if len(moved) else ():
        for variant, rows in list(moved.groupby("variant", sort=False))[:NAMED]:
            effect = change_along(rows, axis, quantity)
            if effect and effect.p is not None:
                itself = Comparison(variant, variant, None, None, effect)
                ends = float(rows[axis].min()), float(rows[axis].max())
                found.append(Change(axis, ends, _difference(itself, quantity, unit, effect.p)))
    return found


def differences_of(comparisons: Iterable[Comparison], quantity: str, unit: str) -> list[Difference]:
    """List the comparisons that have pairs as differences, p Holm-corrected for the number of those
    that have a p.
    """
    paired = [each for each in comparisons if each.effect]
    corrected = iter(holm([each.effect.p for each in paired if each.effect.p is not None]))
    return [_difference(each, quantity, unit, _next_of(corrected, each.effect)) for each in paired]


def _next_of(corrected: Iterator[float], effect: Effect) -> float | None:
    return None if effect.p is None else next(corrected)


def _difference(
    comparison: Comparison, quantity: str, unit: str, corrected: float | None
) -> Difference:
    effect = comparison.effect
    return Difference(
        variant=comparison.variant,
        baseline=comparison.baseline,
        S=comparison.S,
        k=comparison.k,
        quantity=quantity,
        unit=unit,
        mean=effect.mean,
        low=effect.low,
        high=effect.high,
        p=effect.p,
        holm=corrected,
        by_corpus=effect.by_text,
        pairs=effect.pairs,
    )
