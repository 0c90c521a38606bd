"""How the difference between a variant and its baseline changes with model size."""

from dataclasses import dataclass, replace

import pandas as pd

from workflow.report.answers.answer import Difference
from workflow.report.answers.effects import Comparison, Effect, effect_of, pair
from workflow.report.answers.evidence import difference_of
from workflow.results.statistics import LEVEL, holm


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
        trend = _trend(by_variant[variant], by_variant[base], quantity, unit)
        if trend:
            found.append(trend)
    return _correct(found)


def _trend(runs: pd.DataFrame, base: pd.DataFrame, quantity: str, unit: str) -> Trend | None:
    """Compute the trend of one variant, not corrected; None where both ends have too few pairs."""
    by_size = {}
    for size, rows in runs.groupby("size"):
        differences = pair(rows, base[base["size"] == size], quantity)
        if len(differences):
            by_size[size] = differences
    if len(by_size) < 2:
        return None
    ends = (min(by_size), max(by_size))
    small, large = (by_size[size] for size in ends)
    changes = (large - small.reindex(large.index)).dropna()
    change = effect_of(changes)
    if change is None or change.p is None:
        return None
    models = runs[runs["title"].isin(changes.index.unique("title"))]
    parameters = []
    for size in ends:
        of_size = models[models["size"] == size]
        parameters.append(of_size["parameters"].mean())
    differences = []
    for side in (small, large):
        effect = effect_of(side.reindex(changes.index))
        names = (runs["variant"].iloc[0], base["variant"].iloc[0])
        comparison = Comparison(*names, None, None, effect)
        differences.append(difference_of(comparison, quantity, unit, effect.p))
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
