"""How the difference between a variant and its baseline changes from the smallest models to the
largest.
"""

from dataclasses import dataclass

import pandas as pd

from workflow.report.answers.answer import Difference
from workflow.report.answers.effects import Effect, effect_of, pair
from workflow.results.statistics import LEVEL, holm


@dataclass(frozen=True)
class Trend:
    """The difference of one variant at both ends of the ladder, over the corpora and seeds that
    both have.

    small, large: the differences of the smallest and of the largest models; Holm-corrected over the
    variants.
    change: large less small, paired by corpus and seed.
    changed: whether the change is significant after Holm correction over the variants.
    parameters: of the smallest and of the largest models, a mean over corpora.
    """

    small: Difference
    large: Difference
    change: Effect
    changed: bool
    parameters: tuple[float, float]


def trends(runs: pd.DataFrame, of: dict[str, str], quantity: str, unit: str) -> list[Trend]:
    """Compute the trend of each variant that has pairs at two sizes or more, with three seeds on a
    corpus.

    runs: with `title`, at every size, without scores of models whose learned spans have hardly
    moved. of: variant -> baseline. There is none of runs of one size.
    """
    if runs["size"].nunique() < 2:
        return []
    by_variant = dict(iter(runs.groupby("variant", sort=False)))
    found = []
    for variant, base in of.items():
        mine, than = by_variant[variant], by_variant[base]
        effects = {
            size: pair(rows, than[than["size"] == size], quantity)
            for size, rows in mine.groupby("size")
        }
        effects = {size: effect for size, effect in effects.items() if len(effect)}
        if len(effects) < 2:
            continue
        ends = min(effects), max(effects)
        small, large = (effects[size] for size in ends)
        changes = (large - small.reindex(large.index)).dropna()
        change = effect_of(changes)
        if change is None or change.p is None:
            continue
        models = mine[mine["title"].isin(changes.index.unique("title"))]
        parameters = tuple(models.loc[models["size"] == size, "parameters"].mean() for size in ends)
        sides = [effect_of(each.reindex(changes.index)) for each in (small, large)]
        found.append((variant, base, sides, change, parameters))
    corrected = [holm([sides[place].p for _, _, sides, *_ in found]) for place in (0, 1)]
    changed = holm([change.p for *_, change, _ in found])
    return [
        Trend(
            *(
                _difference(variant, base, side, corrected[place][row], quantity, unit)
                for place, side in enumerate(sides)
            ),
            change,
            changed[row] <= LEVEL,
            parameters,
        )
        for row, (variant, base, sides, change, parameters) in enumerate(found)
    ]


def _difference(
    variant: str, base: str, effect: Effect, corrected: float, quantity: str, unit: str
) -> Difference:
    values = {
        "mean": effect.mean,
        "low": effect.low,
        "high": effect.high,
        "p": effect.p,
        "holm": corrected,
    }
    place = {"S": None, "k": None, "quantity": quantity, "unit": unit}
    return Difference(
        variant, base, **place, **values, by_corpus=effect.by_text, pairs=effect.pairs
    )
