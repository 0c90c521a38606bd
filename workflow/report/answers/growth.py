"""What size changes, in words: nets that grow in width, layers and updates together."""

import pandas as pd

from workflow.report.answers.effects import Effect, baselines, effect_of, pair
from workflow.report.answers.phrases import Score
from workflow.report.numbers import capital, count, join, number


def missing(asked: list[float], runs: pd.DataFrame) -> list[str]:
    """Say which of the sizes that a question asks for have no runs, or runs of some variants and texts alone."""
    nets = runs[["size", "variant", "corpus"]].drop_duplicates()
    every, trained = len(nets[["variant", "corpus"]].drop_duplicates()), nets["size"].value_counts()
    none = [f"{size:g}" for size in asked if size not in trained]
    lines = [f"Nets of size {join(none)} are not trained yet."] if none else []
    for size in (each for each in asked if 0 < trained.get(each, 0) < every):
        some = "1 is" if trained[size] == 1 else f"{trained[size]} are"
        lines.append(f"Of {every} nets of size {size:g}, a variant on a text each, {some} trained so far.")
    return lines


def trends(score: Score) -> list[str]:
    """Say of each variant how its effect beside its baseline changes from the smallest nets to the largest.

    score: with the runs of nets of all sizes; of nets of one size there is nothing to say.
    """
    by_variant, lines = dict(iter(score.runs.groupby("variant"))), []
    for variant, base in baselines(score.runs).items():
        mine, than = by_variant[variant], by_variant[base]
        effects = {size: pair(rows, than[than["size"] == size], score.quantity) for size, rows in mine.groupby("size")}
        effects = {size: effect for size, effect in effects.items() if len(effect)}
        if len(effects) < 2:
            continue
        ends = min(effects), max(effects)
        small, large = (effects[size] for size in ends)
        changes = (large - small.reindex(large.index)).dropna()
        change, texts = effect_of(changes), [*changes.index.unique("title")]
        if change and change.p is not None:
            nets = mine[mine["title"].isin(texts)]
            of = [number(round(nets.loc[nets["size"] == size, "parameters"].mean())) for size in ends]
            where = f"on {join(texts)} " if len(texts) < mine["title"].nunique() else ""
            grow = f"{where}as nets grow from {of[0]} to {of[1]} parameters"
            of_both = [effect_of(each.reindex(changes.index)) for each in (small, large)]
            before, after = (f"{score.size(each)} {score.direction(each)}{_chance(each)}" for each in of_both)
            goes = f"{variant} goes from {before} than {base} to {after} {grow}."
            same = f"the difference between {variant} and {base} does not change beyond chance {grow}."
            lines.append(goes if change.told else same)
    return lines


def _chance(effect: Effect) -> str:
    return "" if effect.told else " (within chance)"


def failures(runs: pd.DataFrame) -> list[str]:
    """Count the runs of nets of other sizes than the scale's that failed."""
    runs = runs[runs["size"] != 1]
    broken = runs[runs["status"] != "ok"].groupby(["variant", "size"], sort=False)
    return [
        f"{capital(variant)} at size {size:g}: {count(len(rows), 'run')} failed ({rows['reason'].iloc[0]})."
        for (variant, size), rows in broken
    ]
