"""The runs behind an answer, named and selected, and every variant compared with its baseline."""

from collections.abc import Iterable
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
    effect_of,
    list_places,
    pair,
)
from workflow.report.answers.ratios import CostTable
from workflow.report.figures.colours import as_named
from workflow.results.datasets import with_titles
from workflow.results.runs_table import finished
from workflow.results.statistics import LEVEL, holm
from workflow.results.trained_enough import supports_nothing
from workflow.tasks.spec import TaskSpec

NAMED = 3  # the changes of so many variants along a grid are given


@dataclass(frozen=True)
class Evidence:
    """Runs that are all tuned, or all of the recipe; `title` names the corpus, `variant` is the
    name that pages show.

    quantity, unit: of the score that is compared. tokens: what a model predicts, `characters`.
    runs: at every size, failed ones included. own: of them those at the scale's own size.
    finished: of these those that ended well and have a score.
    scored: `runs`, without the scores of models that support no conclusion (`supports_nothing`).
    places: every variant at each S and k, at the scale's own size, with the scores of `scored`.
    costs: what the variants cost. changes: how scores change along the grids.
    of: variant -> the baseline that it is compared with.
    comparisons: of `places`; an effect is None where a variant and its baseline have no pair.
    differences: those with an effect, Holm-corrected for their number.
    pooled: whether seeds are not paired, but their standard deviation pooled over variants.
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
    pooled: bool = False

    @property
    def corpora(self) -> list[str]:
        """List the corpora on which something was compared, or else trained."""
        compared: set[str] = set()
        for each in self.differences:
            compared.update(each.by_corpus)
        read = [*self.finished["title"].unique()]
        both = [corpus for corpus in read if corpus in compared]
        return both or read

    @property
    def axes(self) -> list[str]:
        """List S and k if a variant has several of them."""
        if not len(self.own):
            return []
        return axes_of(self.own)

    @property
    def behind(self) -> pd.DataFrame:
        """Select the finished runs that are in a pair.

        They are of the compared variants and corpora, with a seed that two variants share.
        """
        names: set[str] = set()
        corpora: set[str] = set()
        for each in self.differences:
            names |= {each.variant, each.baseline}
            corpora.update(each.by_corpus)
        is_of_variant = self.finished["variant"].isin(names)
        is_on_corpus = self.finished["title"].isin(corpora)
        runs = self.finished[is_of_variant & is_on_corpus]
        by_seed = runs.groupby(["title", "seed"])
        has_pair = by_seed["variant"].transform("nunique") > 1
        return runs[has_pair]

    def compared_with(self, of: dict[str, str]) -> "Evidence":
        """Compare the same runs with other baselines. of: variant -> baseline."""
        comparisons = compare_places(self.places, of, self.pooled)
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
    quantity = score.quantity
    unit = score.unit
    runs = with_titles(as_named(runs))
    supported = runs[quantity].mask(supports_nothing(runs))
    scored = runs.assign(**{quantity: supported})
    own = runs[runs["size"] == 1]
    own_scored = scored[scored["size"] == 1]
    ended = finished(own, quantity)
    ended_scored = own_scored[own_scored.index.isin(ended.index)]
    not_compared = Evidence(
        quantity=quantity,
        unit=unit,
        tokens=task.tokens,
        runs=runs,
        own=own,
        finished=ended,
        scored=scored,
        places=list_places(own_scored, quantity),
        costs=CostTable(own, ended),
        changes=_changes(ended_scored, quantity, unit),
        of={},
        comparisons=[],
        differences=[],
        pooled=task.pooled,
    )
    return not_compared.compared_with(of)


def _changes(runs: pd.DataFrame, quantity: str, unit: str) -> list[Change]:
    """List how a few variants change along each axis; those over too few seeds are left out."""
    axes = axes_of(runs) if len(runs) else []
    by_variant = list(runs.groupby("variant", sort=False))
    found = []
    for axis in axes:
        for variant, rows in by_variant[:NAMED]:
            effect = change_along(rows, axis, quantity)
            if effect is None or effect.p is None:
                continue
            least = float(rows[axis].min())
            most = float(rows[axis].max())
            itself = Comparison(variant, variant, None, None, effect)
            difference = difference_of(itself, quantity, unit, effect.p)
            found.append(Change(axis, (least, most), difference))
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
        p = None
        if each.effect.p is not None:
            p = next(corrected)
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
        bound=effect.bound,
    )


# --- over model sizes ------------------------------------------------------------------------


@dataclass(frozen=True)
class Trend:
    """The difference of one variant at both ends of the sizes.

    All are over the corpora and seeds that both ends have, Holm-corrected over the variants.
    small, large: the differences of the smallest and of the largest models.
    change: large less small, paired by corpus and seed. changed: whether it is significant.
    parameters: of the smallest and of the largest models, a mean over corpora.
    """

    small: Difference
    large: Difference
    change: Effect
    changed: bool
    parameters: tuple[float, float]


def trends(runs: pd.DataFrame, of: dict[str, str], quantity: str, unit: str) -> list[Trend]:
    """Compute the trend of each variant that has pairs at two sizes or more, of enough seeds.

    runs: with `title`, at every size, without scores of models whose learned spans have hardly
    moved. of: variant -> baseline. There is no trend of runs of one size.
    """
    if runs["size"].nunique() < 2:
        return []
    by_variant = dict(iter(runs.groupby("variant", sort=False)))
    found = []
    for variant, base in of.items():
        ours = by_variant[variant]
        than = by_variant[base]
        trend = _trend(ours, than, quantity, unit)
        if trend:
            found.append(trend)
    return _correct(found)


def _trend(runs: pd.DataFrame, base: pd.DataFrame, quantity: str, unit: str) -> Trend | None:
    """Compute the trend of one variant, not corrected; None where both ends have too few pairs."""
    by_size = {}
    for size, rows in runs.groupby("size"):
        base_rows = base[base["size"] == size]
        differences = pair(rows, base_rows, quantity)
        if len(differences):
            by_size[size] = differences
    if len(by_size) < 2:
        return None
    least = min(by_size)
    most = max(by_size)
    small = by_size[least]
    large = by_size[most]
    changes = (large - small.reindex(large.index)).dropna()
    change = effect_of(changes)
    if change is None or change.p is None:
        return None
    variant = runs["variant"].iloc[0]
    baseline = base["variant"].iloc[0]
    differences = []
    for side in (small, large):
        # over the corpora and seeds that both ends have
        effect = effect_of(side.reindex(changes.index))
        comparison = Comparison(variant, baseline, None, None, effect)
        differences.append(difference_of(comparison, quantity, unit, effect.p))
    models = runs[runs["title"].isin(changes.index.unique("title"))]
    parameters = []
    for size in (least, most):
        of_size = models[models["size"] == size]
        parameters.append(of_size["parameters"].mean())
    return Trend(*differences, change, False, tuple(parameters))


def _correct(found: list[Trend]) -> list[Trend]:
    """Correct the p values of all trends for each other."""
    small = holm([trend.small.p for trend in found])
    large = holm([trend.large.p for trend in found])
    changes = holm([trend.change.p for trend in found])
    corrected = []
    for trend, p_small, p_large, p_change in zip(found, small, large, changes, strict=True):
        corrected.append(
            replace(
                trend,
                small=replace(trend.small, holm=p_small),
                large=replace(trend.large, holm=p_large),
                changed=p_change <= LEVEL,
            )
        )
    return corrected
