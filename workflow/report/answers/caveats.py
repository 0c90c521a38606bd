"""What limits an answer, a sentence each.

Those that may change its conclusion are caveats, the others footnotes.
"""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from workflow.plan.same_training import Trained, unnamed_settings
from workflow.report.answers.answer import Answer, Difference, by_corpus
from workflow.report.answers.effects import Comparison, place_on
from workflow.report.answers.evidence import Evidence, Trend
from workflow.report.answers.ratios import largest
from workflow.results.numbers import at_limits, capital, count, is_number, join, number, quoted
from workflow.results.record import Record
from workflow.results.registry import REGISTRY
from workflow.results.statistics import FEWEST, LEVEL
from workflow.results.trained_enough import FLAT, hardly_moved, learned_spans, unsolved
from workflow.settings.questions import Question
from workflow.tasks.spec import TASKS

NAMED = 3  # variants that are named one by one
MOST = 2  # caveats; the others are footnotes


def place(answer: Answer, warnings: Iterable[str], notes: Iterable[str]) -> Answer:
    """Show the first warnings as caveats; the others become the first notes."""
    warnings = [*warnings]
    return replace(
        answer,
        caveats=tuple(warnings[:MOST]),
        notes=(*warnings[MOST:], *notes),
    )


# --- caveats ---------------------------------------------------------------------------------


def still_learning(finished: pd.DataFrame) -> list[str]:
    """Count the runs that still learned at their end: more training may change the answer."""
    gains = finished.drop_duplicates("digest")["late_gain"]
    late = gains[gains > FLAT]
    if not len(late):
        return []
    every = count(len(gains), "run")
    verb = "was" if len(late) == 1 else "were"
    most = late.max()
    return [
        f"{len(late)} of {every} {verb} still improving, "
        f"by up to {most:.2f} bits in the last quarter of training."
    ]


def of_difference(head: Difference, seen: Evidence) -> list[str]:
    """List what may reverse the difference of a headline."""
    lines = []
    if head.signs_differ:
        lines.append(f"The sign differs between corpora: {_on_each_corpus(head)}.")
    if head.by_corpus:
        lines += _missing_corpora(head, seen.own, seen)
    if head.low is None:
        lines.append(f"An interval needs at least {FEWEST} seeds on each corpus.")
        return lines
    is_significant_alone = head.p is not None and head.p <= LEVEL
    if is_significant_alone and not head.significant:
        lines.append(f"Significant individually, but not after {_correction(seen)}.")
    return lines


def of_count(tested: list[Difference], seen: Evidence) -> list[str]:
    """List what may reverse the differences of many variants."""
    alone = sum(each.p <= LEVEL for each in tested)
    left = sum(each.significant for each in tested)
    lines = []
    if alone > left:
        correction = _correction(seen)
        lines.append(f"{alone} are significant individually, {left} after {correction}.")
    reversed_on_some = []
    for each in tested:
        if each.significant and each.signs_differ:
            reversed_on_some.append(quoted(each.variant))
    if reversed_on_some:
        names = join(reversed_on_some)
        lines.append(f"The sign differs between corpora for {names}.")
    return [*lines, *unmoved(seen.own)]


def of_sizes(trend: Trend, seen: Evidence) -> list[str]:
    """List what may reverse a difference over sizes."""
    head = trend.large
    missing = _missing_corpora(head, seen.runs, seen)
    if not head.signs_differ:
        return missing
    on_each = _on_each_corpus(head)
    return [f"The sign differs between corpora: {on_each}.", *missing]


def unmoved(runs: pd.DataFrame) -> list[str]:
    """Name the variants and corpora whose learned spans have hardly moved.

    They support no conclusion about spans.
    """
    has_ended = runs["status"] == "ok"
    is_still = hardly_moved(runs)
    still = runs[has_ended & is_still]
    if still.empty:
        return []
    return [f"No conclusion where learned spans barely moved: {_by_corpus(still)}."]


def unsolved_tasks(runs: pd.DataFrame) -> list[str]:
    """Name the variants and corpora whose models have not learned the task."""
    found = runs[unsolved(runs)]
    if found.empty:
        return []
    solved = TASKS[found["task"].iloc[0]].solved
    quantity = REGISTRY[solved.quantity]
    below = f"{quantity.title} below {solved.least:g} {quantity.unit}"
    return [f"No conclusion where the task is not learned ({below}): {_by_corpus(found)}."]


def _by_corpus(runs: pd.DataFrame) -> str:
    """Name the variants of runs, corpus by corpus: `“a” and “b” on text8; “a” on enwik8`."""
    places = []
    for title, on_corpus in runs.groupby("title", sort=False):
        names = [quoted(variant) for variant in on_corpus["variant"].unique()]
        places.append(f"{join(names)} on {title}")
    return "; ".join(places)


def papers_recipes(question: Question, runs: pd.DataFrame, records: dict[str, Record]) -> list[str]:
    """Name the training settings in which the recipes of a scale that follows the papers differ.

    No other scale's plan has any. runs: of every size, with their trials. records: by digest.
    """
    trained = []
    untuned = runs[runs["tuning"].isna()]
    for run in untuned.itertuples():
        job = records[run.digest].job
        settings = job.training.model_dump()
        place = (run.corpus, run.size)
        trained.append(Trained(run.variant, place, settings))
    is_tuned = runs["tuning"] == "tuned"
    differing = unnamed_settings(question, trained, tuned=bool(is_tuned.any()))
    if not differing:
        return []
    names = join([*differing])
    return [
        "Each variant follows its paper's recipe. "
        f"These differ in {names}, which may cause part of it."
    ]


def _on_each_corpus(difference: Difference) -> str:
    """Write the difference on each corpus: `0.02 bpc better on text8 and 0.01 bpc worse on ...`."""
    parts = []
    for title, mean in difference.by_corpus.items():
        on_corpus = replace(difference, mean=mean)
        parts.append(f"{on_corpus.size} on {title}")
    return join(parts)


def _missing_corpora(head: Difference, runs: pd.DataFrame, seen: Evidence) -> list[str]:
    """Say on which corpora of some runs there is no difference, and why."""
    missing = []
    for title in runs["title"].unique():
        if title not in head.by_corpus:
            missing.append(title)
    if not missing:
        return []
    compared = join([*head.by_corpus])
    why = _why_missing(head, missing, seen)
    return [f"Compared on {compared} only: {why}."]


def _why_missing(head: Difference, missing: list[str], seen: Evidence) -> str:
    """Say why a difference lacks corpora: learned spans that hardly moved, or no pair."""
    pair = [head.variant, head.baseline]
    of_pair = seen.runs["variant"].isin(pair)
    is_still = hardly_moved(seen.runs)
    still = seen.runs[is_still & of_pair]
    names = join(missing)
    if set(missing) <= set(still["title"]):
        return f"learned spans barely moved on {names}"
    return f"no pair of runs on {names}"


def _correction(seen: Evidence) -> str:
    tests = sum(each.p is not None for each in seen.differences)
    return f"Holm correction for {tests} comparisons"


# --- footnotes -------------------------------------------------------------------------------


def of_comparisons(seen: Evidence) -> list[str]:
    """Say what was not compared, or with too few seeds, and which variants are the same runs."""
    return [
        *_without_interval(seen),
        *_on_fewer_corpora(seen),
        *_same_runs(seen),
        *_keeping_all(seen),
        *_without_pair(seen),
    ]


def _without_interval(seen: Evidence) -> list[str]:
    few = [_name(each, seen) for each in seen.differences if each.p is None]
    if not few:
        return []
    names = join(few)
    return [f"Fewer than {FEWEST} seeds on a corpus, so no interval: {names}."]


def _name(each: Difference | Comparison, seen: Evidence) -> str:
    variant = quoted(each.variant)
    place = place_on(seen.axes, each.S, each.k)
    return f"{variant}{place}"


def _on_fewer_corpora(seen: Evidence) -> list[str]:
    """Name the variants that were compared on some of the corpora only."""
    if by_corpus(seen.differences):
        return []
    named: dict[str, list[str]] = {}
    for each in seen.differences[1:]:
        on = [corpus for corpus in seen.corpora if corpus in each.by_corpus]
        if len(on) == len(seen.corpora):
            continue
        names = named.setdefault(join(on), [])
        variant = quoted(each.variant)
        if variant not in names:
            names.append(variant)
    lines = []
    for on, names in named.items():
        variants = join(names)
        lines.append(f"Compared on {on} only: {variants}.")
    return lines


def _same_runs(seen: Evidence) -> list[str]:
    """Name the variants that ask for the same jobs as their baselines at this scale."""
    by_variant = seen.own.groupby("variant")["digest"]
    jobs = by_variant.agg(set).to_dict()
    same: dict[str, list[str]] = {}
    for variant, base in seen.of.items():
        if variant not in jobs or base not in jobs:
            continue
        if jobs[variant] <= jobs[base]:
            names = same.setdefault(base, [])
            names.append(quoted(variant))
    lines = []
    for base, names in same.items():
        variants = capital(join(names))
        lines.append(f"{variants} and {quoted(base)} are the same at this scale.")
    return lines


def _keeping_all(seen: Evidence) -> list[str]:
    """Name the places where k keeps every key, so that nothing is selected."""
    places: list[str] = []
    for each in seen.comparisons:
        place = each.place.removeprefix(" at ")
        if each.keeps_all and each.effect is None and place not in places:
            places.append(place)
    if not places:
        return []
    listed = "; ".join(places)
    return [f"Not compared where k keeps every key within the span: {listed}."]


def _without_pair(seen: Evidence) -> list[str]:
    """Name the comparisons whose baseline lacks the run, though both variants ended somewhere."""
    ended = set(seen.finished["variant"])
    lost = []
    for each in seen.comparisons:
        names = {each.variant, each.baseline}
        if not each.is_unmatched or not names <= ended:
            continue
        if not _is_unmoved(names, seen):
            lost.append(_name(each, seen))
    if not lost or not seen.differences:
        return []
    why = "because the baseline has no run with the same corpus, seed, S and k"
    return [f"Not compared, {why}: {join(lost)}."]


def _is_unmoved(names: set[str], seen: Evidence) -> bool:
    """Say whether learned spans of one of these variants hardly moved."""
    of_pair = seen.own["variant"].isin(names)
    is_still = hardly_moved(seen.own)
    return bool((is_still & of_pair).any())


def along_grid(seen: Evidence) -> list[str]:
    """Say how a few variants change from the smallest S, or k, to the largest."""
    by_ends: dict[str, list[str]] = {}
    for each in seen.changes:
        change = each.difference
        interval = f"95 % CI {change.interval}"
        if change.signs_differ:
            on_each = _on_each_corpus(change)
            interval = f"{interval}; {on_each}"
        least, most = each.ends
        ends = f"From {each.axis} = {least:g} to {most:g}"
        variant = quoted(change.variant)
        parts = by_ends.setdefault(ends, [])
        parts.append(f"{variant} {change.size} ({interval})")
    lines = []
    for ends, parts in by_ends.items():
        changes = join(parts)
        lines.append(f"{ends}: {changes}.")
    return lines


def of_runs(runs: pd.DataFrame, score: str) -> list[str]:
    """Count the runs that failed, by status, and those that ended well without a score."""
    once = runs.drop_duplicates("digest")
    has_ended = once["status"] == "ok"
    has_score = once[score].notna()
    broken = once[~(has_ended & has_score)]
    if not len(broken):
        return []
    statuses = broken["status"].replace("ok", "not scored")
    kinds = []
    for kind, how_many in statuses.value_counts().items():
        kinds.append(f"{how_many} {kind}")
    every = count(len(once), "run")
    return [f"{len(broken)} of {every} failed ({join(kinds)})."]


def failed_at_sizes(runs: pd.DataFrame) -> list[str]:
    """Count the runs at other sizes than the scale's own that failed."""
    is_other = runs["size"] != 1
    has_failed = runs["status"] != "ok"
    broken = runs[is_other & has_failed]
    lines = []
    by_model = broken.groupby(["variant", "size"], sort=False)
    for (variant, size), rows in by_model:
        name = capital(quoted(variant))
        failed = count(len(rows), "run")
        reason = rows["reason"].iloc[0]
        lines.append(f"{name} at size {size:g}: {failed} failed ({reason}).")
    return lines


def missing_sizes(asked: list[float], runs: pd.DataFrame) -> list[str]:
    """Say which sizes of a question have no runs, or runs of some variants and corpora only."""
    models = runs[["size", "variant", "corpus"]].drop_duplicates()
    pairs = models[["variant", "corpus"]].drop_duplicates()
    every = len(pairs)
    trained = models["size"].value_counts()
    none = []
    partly = []
    for size in asked:
        known = trained.get(size, 0)
        if size not in trained:
            none.append(f"{size:g}")
        elif known < every:
            some = f"{known} of {every} pairs of variant and corpus"
            partly.append(f"At size {size:g}, {some} are trained so far.")
    if not none:
        return partly
    return [f"Models of size {join(none)} are not trained yet.", *partly]


def spans(finished: pd.DataFrame, tokens: str) -> list[str]:
    """Give the mean span of models with learned spans, at the largest S, on each corpus."""
    has_span = finished["mean_span"].notna()
    learned = learned_spans(finished[has_span])
    groups = list(learned.groupby("variant", sort=False))
    lines = []
    for variant, every in groups[:NAMED]:
        rows = largest(every)
        limit = rows["S"].max()
        written = join(_write_spans(rows))
        name = quoted(variant)
        lines.append(f"Mean span of {name}: {written}; limit {limit:.0f} {tokens}.")
    return lines


def _write_spans(rows: pd.DataFrame) -> list[str]:
    """Write the mean span of one variant on each corpus, and where it barely moved."""
    by_corpus = rows.groupby("title", sort=False)
    means = by_corpus[["mean_span", "start_span"]].mean()
    is_still = hardly_moved(rows).groupby(rows["title"], sort=False).all()
    parts = []
    for title, mean in means.iterrows():
        span = mean["mean_span"]
        written = f"{span:.0f}"
        if len(means) > 1:
            written = f"{written} on {title}"
        if is_still[title]:
            start = mean["start_span"]
            written = f"{written} (barely above its initial value of {start:.0f})"
        parts.append(written)
    return parts


def cost_alone(rows: pd.DataFrame, tokens: str) -> str:
    """Write what one variant costs, where it is compared with nothing; empty if not measured."""
    macs = _mean_cost(rows, "macs_executed")
    memory = _mean_cost(rows, "memory_train_bytes")
    speed = _mean_cost(rows, "train_tokens_per_s")
    parts = []
    if is_number(macs):
        token = tokens.removesuffix("s")
        parts.append(f"{number(macs)} MACs per {token}")
    if is_number(memory):
        parts.append(f"{number(memory, 'bytes')} of training memory")
    if is_number(speed):
        parts.append(f"a training speed of {number(speed)} {tokens}/s")
    if not parts:
        return ""
    return f"Cost: {join(parts)}."


def _mean_cost(rows: pd.DataFrame, name: str) -> float | None:
    if name not in rows:
        return None
    by_configuration = rows.groupby("configuration")
    return by_configuration[name].mean().mean()


def name_unmoved(still: pd.DataFrame) -> list[str]:
    """Name the variants, corpora and limits of learned spans that hardly moved, for a caption."""
    places = []
    groups = still.groupby(["variant", "title"], sort=False)
    for (variant, title), rows in groups:
        known = rows["S"].dropna().astype(int)
        limits = sorted(set(known.tolist()))
        at = at_limits(limits)
        places.append(f"{variant} on {title}{at}")
    return places
