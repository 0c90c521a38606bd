"""The runs behind an answer, named and selected, and every variant compared with its baseline."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.answers.answer import Difference
from workflow.report.answers.effects import (
    Comparison,
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
        """Select the finished runs that are in a pair.

        They are of the compared variants and corpora, with a seed that two variants share.
        """
        names: set[str] = set()
        corpora: set[str] = set()
        for each in self.differences:
            names.update((each.variant, each.baseline))
            corpora.update(each.by_corpus)
        is_compared = self.finished["variant"].isin(names) & self.finished["title"].isin(corpora)
        runs = self.finished[is_compared]
        variants_of_seed = runs.groupby(["title", "seed"])["variant"].transform("nunique")
        return runs[variants_of_seed > 1]

    def compared_with(self, of: dict[str, str]) -> "Evidence":
        """Compare the same runs with other baselines. of: variant -> baseline."""
        comparisons = compare_places(self.places, of)
        differences = differences_of(comparisons, self.quantity, self.unit)
        return replace(self, of=of, comparisons=comparisons, differences=differences)


@dataclass(frozen=True)
class Change:
    """How one variant changes from the smallest value of an axis to the largest.

    axis: S or k; the score is averaged over the other one. ends: its smallest and largest value.
    difference: of the variant to itself.
    """

    axis: str
    ends: tuple[float, float]
    difference: Difference


def weigh(runs: pd.DataFrame, task: TaskSpec, of: dict[str, str]) -> Evidence:
    """Name and select the runs, and compare every variant with its baseline at each S and k.

    of: as `baselines`.
    """
    score = task.columns[0]
    quantity, unit = score.quantity, score.unit
    runs = with_titles(as_named(runs))
    scored = runs.assign(**{quantity: runs[quantity].mask(hardly_moved(runs))})
    own = runs[runs["size"] == 1]
    own_scored = scored[scored["size"] == 1]
    finished = own[(own["status"] == "ok") & own[quantity].notna()]
    finished_scored = own_scored[own_scored.index.isin(finished.index)]
    not_compared = Evidence(
        quantity=quantity,
        unit=unit,
        tokens=task.tokens,
        runs=runs,
        own=own,
        finished=finished,
        scored=scored,
        places=list_places(own_scored, quantity),
        costs=CostTable(own, finished),
        changes=_changes(finished_scored, quantity, unit),
        of={},
        comparisons=[],
        differences=[],
    )
    return not_compared.compared_with(of)


def _changes(runs: pd.DataFrame, quantity: str, unit: str) -> list[Change]:
    """List how a few variants change along each axis; those over too few seeds are left out."""
    axes = axes_of(runs) if len(runs) else []
    found = []
    for axis in axes:
        for variant, rows in list(runs.groupby("variant", sort=False))[:NAMED]:
            effect = change_along(rows, axis, quantity)
            if effect is None or effect.p is None:
                continue
            ends = (float(rows[axis].min()), float(rows[axis].max()))
            itself = Comparison(variant, variant, None, None, effect)
            difference = difference_of(itself, quantity, unit, effect.p)
            found.append(Change(axis, ends, difference))
    return found


def differences_of(comparisons: Iterable[Comparison], quantity: str, unit: str) -> list[Difference]:
    """List the comparisons that have pairs as differences.

    Their p are Holm-corrected for the number of those that have a p.
    """
    paired = [each for each in comparisons if each.effect]
    tested = [each.effect.p for each in paired if each.effect.p is not None]
    corrected = iter(holm(tested))
    differences = []
    for each in paired:
        p = None if each.effect.p is None else next(corrected)
        differences.append(difference_of(each, quantity, unit, p))
    return differences


def difference_of(
    comparison: Comparison, quantity: str, unit: str, corrected: float | None
) -> Difference:
    """Make the difference of a comparison that has an effect. corrected: its p after correction."""
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
        by_corpus=effect.by_corpus,
        pairs=effect.pairs,
    )
