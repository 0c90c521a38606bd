"""What one should know beside the sentence: each text, chance, whether runs still learned, failures."""

from dataclasses import replace

import pandas as pd

from workflow.plan.questions import Question
from workflow.plan.same_training import Trained, unnamed_settings
from workflow.report.answers.effects import Change, Comparison, Effect, baselines
from workflow.report.answers.phrases import Score, verb
from workflow.report.numbers import at_limits, capital, count, join
from workflow.results.record import Record
from workflow.results.statistics import FEWEST, LEVEL, holm
from workflow.results.trained_enough import FLAT, hardly_moved

NAMED = 3


def by_text(comparisons: list[Comparison], changes: list[Change], score: Score) -> list[str]:
    """Name what has another sign on another text, with its size on each: differences, and changes that are told."""
    last = {each.variant: each for each in comparisons if each.effect}
    lines = [
        f"The texts disagree: {name} is {_on_each_text(each.effect, score)}, beside {each.baseline}."
        for name, each in last.items()
        if each.effect.turns
    ]
    lines += [
        f"The texts disagree: {ends} {name} gets {_on_each_text(effect, score)}."
        for ends, name, effect in changes
        if effect.told and effect.turns
    ]
    return lines if len(lines) <= NAMED else []


def on_fewer_texts(comparisons: list[Comparison], texts: list[str]) -> list[str]:
    """Name the variants that were compared on some of the texts alone: means over all are not theirs."""
    named: dict[str, dict[str, None]] = {}
    for each in (each for each in comparisons if each.effect):
        if len(on := [text for text in texts if text in each.effect.by_text]) < len(texts):
            named.setdefault(join(on), {})[each.variant] = None
    return [f"Compared on {on} alone: {join([*names])}." for on, names in named.items()]


def _on_each_text(effect: Effect, score: Score) -> str:
    each = [(text, replace(effect, mean=mean)) for text, mean in effect.by_text.items()]
    return join([f"{score.size(part)} {score.direction(part)} on {text}" for text, part in each])


def chance(comparisons: list[Comparison]) -> str:
    """Say how many comparisons remain once p is corrected for their number, where that alters the count."""
    ps = [each.effect.p for each in comparisons if each.effect and each.effect.p is not None]
    told, left = (sum(p <= LEVEL for p in each) for each in (ps, holm(ps)))
    if told == left:
        return ""
    return f"; {told} of {count(len(ps), 'difference')} {verb(told)} more than chance one by one, " + (
        f"{left or 'none'} after correction"
    )


def few(comparisons: list[Comparison]) -> list[str]:
    """Name the comparisons with too few seeds on a text, where others have enough."""
    effects = {f"{each.variant}{each.place}": each.effect for each in comparisons if each.effect}
    short = [name for name, effect in effects.items() if effect.p is None]
    if not 0 < len(short) < len(effects):
        return []
    return [f"Fewer than {FEWEST} seeds on a text, too few to tell: {join(short)}."]


def same_runs(runs: pd.DataFrame) -> list[str]:
    """Name the variants that are the same as their baselines at this scale: they ask for the same jobs."""
    jobs = {variant: set(rows["digest"]) for variant, rows in runs.groupby("variant", sort=False)}
    same: dict[str, list[str]] = {}
    for variant, base in baselines(runs).items():
        if jobs[variant] <= jobs[base]:
            same.setdefault(base, []).append(variant)
    return [
        f"{capital(join(names))} {verb(len(names))} the same as {base} at this scale." for base, names in same.items()
    ]


def not_compared(comparisons: list[Comparison], finished: pd.DataFrame) -> list[str]:
    """Name the places where k keeps every key, so that two variants are one, and what has no pair but ended well."""
    kept = dict.fromkeys(each.place for each in comparisons if each.keeps_all and each.effect is None)
    said = "; ".join(place.removeprefix(" at ") for place in kept)
    lines = [f"Not compared where k keeps every key that the span holds: {said}."] if said else []
    ended, lost = set(finished["variant"]), [each for each in comparisons if each.is_unmatched]
    names = [f"{each.variant}{each.place}" for each in lost if {each.variant, each.baseline} <= ended]
    if names and len(lost) < len(comparisons):
        lines.append(f"Not compared, for the baseline has no run of that text, seed, S and k: {join(names)}.")
    return lines


def papers_recipes(question: Question, runs: pd.DataFrame, records: dict[str, Record]) -> list[str]:
    """Name the training settings in which the recipes of a scale that follows the papers differ.

    No other scale's plan has any. runs: of every size, with their trials. records: by digest.
    """
    trained = [
        Trained(run.variant, (run.corpus, run.size), records[run.digest].job.training.model_dump())
        for run in runs[runs["tuning"].isna()].itertuples()
    ]
    differing = unnamed_settings(question, trained, tuned=bool((runs["tuning"] == "tuned").any()))
    if not differing:
        return []
    return [
        f"Each variant follows its paper's recipe. These recipes differ in {join([*differing])}, so a difference "
        "between variants may come from the recipe."
    ]


def learning(finished: pd.DataFrame) -> list[str]:
    """Say whether runs still learned when their training ended, which may turn an answer round."""
    gains = finished.drop_duplicates("digest")["late_gain"]
    late = gains[gains > FLAT]
    if not len(late):
        return []
    return [
        f"{len(late)} of {count(len(gains), 'run')} were still learning, by up to {late.max():.2f} bits in the last "
        "quarter of the updates: more training may change the answer."
    ]


def unmoved(runs: pd.DataFrame, tokens: str) -> list[str]:
    """Name the variants and datasets whose learned spans have hardly moved from their start, in a sentence.

    runs: with their `title`, of models of all sizes.
    """
    still = runs[hardly_moved(runs) & (runs["status"] == "ok")]
    places = [
        f"{variant} on {title} ({_spell_unmoved(rows, tokens)})"
        for (variant, title), rows in still.groupby(["variant", "title"], sort=False)
    ]
    if not places:
        return []
    return [f"Learned spans have hardly moved from their start: no conclusion about spans for {join(places)}."]


def _spell_unmoved(rows: pd.DataFrame, tokens: str) -> str:
    """Write where and how far: `S = 128, size 0.25 and 2: 9.0 to 9.1 characters after 8.0`."""
    means = rows.groupby("configuration")["mean_span"].mean()
    low, high = (f"{value:.1f}" for value in (means.min(), means.max()))
    limits = at_limits(sorted({int(S) for S in rows["S"].dropna()})).removeprefix(" at ")
    sizes = [f"{size:g}" for size in sorted(rows["size"].unique())]
    of_size = f", size {join(sizes)}" if sizes != ["1"] else ""
    reached = low if low == high else f"{low} to {high}"
    return f"{limits}{of_size}: {reached} {tokens} after {rows['start_span'].mean():.1f}"


def failures(runs: pd.DataFrame, quantity: str) -> list[str]:
    """Count the runs that failed, by status, and those that were trained and have no such score."""
    runs = runs.assign(status=runs["status"].mask((runs["status"] == "ok") & runs[quantity].isna(), "not scored"))
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    if not len(broken):
        return []
    kinds = join([f"{number} {status}" for status, number in broken["status"].value_counts().items()])
    return [f"{len(broken)} of {count(runs['digest'].nunique(), 'run')} failed ({kinds})."]
