"""What limits an answer, a sentence each: those that may change its conclusion are caveats, the
others footnotes.
"""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from workflow.plan.questions import Question
from workflow.plan.same_training import Trained, unnamed_settings
from workflow.report.answers.answer import Answer, Difference
from workflow.report.answers.effects import Comparison, place_on
from workflow.report.answers.evidence import Evidence
from workflow.report.answers.model_sizes import Trend
from workflow.report.answers.ratios import largest
from workflow.results.numbers import at_limits, capital, count, is_number, join, number, quoted
from workflow.results.record import Record
from workflow.results.statistics import FEWEST, LEVEL
from workflow.results.trained_enough import FLAT, hardly_moved, learned_spans

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
    """Count the runs that still learned when their training ended: more of it may change the
    answer.
    """
    gains = finished.drop_duplicates("digest")["late_gain"]
    late = gains[gains > FLAT]
    if not len(late):
        return []
    runs = f"{len(late)} of {count(len(gains), 'run')}"
    verb = "was" if len(late) == 1 else "were"
    return [
        f"{runs} {verb} still improving, by up to {late.max():.2f} bits in the last quarter of training."
    ]


def of_difference(head: Difference, seen: Evidence) -> list[str]:
    """List what may turn the difference of a headline round."""
    lines = []
    if head.signs_differ:
        lines.append(f"The sign differs between corpora: {_on_each_corpus(head)}.")
    missing = [title for title in seen.own["title"].unique() if title not in head.by_corpus]
    if missing and head.by_corpus:
        lines.append(
            f"Compared on {join([*head.by_corpus])} only: {_why_missing(head, missing, seen)}."
        )
    if head.low is None:
        lines.append(f"An interval needs at least {FEWEST} seeds on each corpus.")
    elif head.p is not None and head.p <= LEVEL and not head.significant:
        lines.append(
            f"Significant individually, but not after Holm correction for {_tests(seen)} comparisons."
        )
    return lines


def of_count(tested: list[Difference], seen: Evidence) -> list[str]:
    """List what may turn round the differences of many variants."""
    alone = sum(each.p <= LEVEL for each in tested)
    left = sum(each.significant for each in tested)
    lines = []
    if alone > left:
        lines.append(
            f"{alone} are significant individually, {left} after Holm correction for {_tests(seen)} comparisons."
        )
    turned = [quoted(each.variant) for each in tested if each.significant and each.signs_differ]
    if turned:
        lines.append(f"The sign differs between corpora for {join(turned)}.")
    return [*lines, *unmoved(seen.own)]


def of_sizes(trend: Trend, seen: Evidence) -> list[str]:
    """List what may turn round a difference over sizes."""
    head = trend.large
    lines = (
        [f"The sign differs between corpora: {_on_each_corpus(head)}."] if head.signs_differ else []
    )
    missing = [title for title in seen.runs["title"].unique() if title not in head.by_corpus]
    if missing:
        lines.append(
            f"Compared on {join([*head.by_corpus])} only: {_why_missing(head, missing, seen)}."
        )
    return lines


def unmoved(runs: pd.DataFrame) -> list[str]:
    """Name the variants and corpora whose learned spans have hardly moved: they support no
    conclusion about spans.
    """
    still = runs[hardly_moved(runs) & (runs["status"] == "ok")]
    places = [
        f"{quoted(variant)} on {title}"
        for (variant, title), _ in still.groupby(["variant", "title"], sort=False)
    ]
    return [f"No conclusion where learned spans barely moved: {join(places)}."] if places else []


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
        f"Each variant follows its paper's recipe. These differ in {join([*differing])}, which may cause part of it."
    ]


def _on_each_corpus(difference: Difference) -> str:
    each = [(title, replace(difference, mean=mean)) for title, mean in difference.by_corpus.items()]
    return join([f"{part.size} on {title}" for title, part in each])


def _why_missing(head: Difference, missing: list[str], seen: Evidence) -> str:
    """Say why a difference lacks corpora: learned spans that hardly moved, or no pair."""
    still = seen.runs[
        hardly_moved(seen.runs) & seen.runs["variant"].isin([head.variant, head.baseline])
    ]
    if set(missing) <= set(still["title"]):
        return f"learned spans barely moved on {join(missing)}"
    return f"no pair of runs on {join(missing)}"


def _tests(seen: Evidence) -> int:
    return sum(each.p is not None for each in seen.differences)


# --- footnotes -------------------------------------------------------------------------------------------------------


def of_comparisons(seen: Evidence) -> list[str]:
    """Say what was not compared, or with too few seeds, and which variants are the same runs."""
    few = [
        f"{quoted(each.variant)}{place_on(seen.axes, each.S, each.k)}"
        for each in seen.differences
        if each.p is None
    ]
    lines = [f"Fewer than {FEWEST} seeds on a corpus, so no interval: {join(few)}."] if few else []
    lines += _on_fewer_corpora(seen)
    lines += _same_runs(seen)
    kept = dict.fromkeys(
        each.place for each in seen.comparisons if each.keeps_all and each.effect is None
    )
    if kept:
        places = "; ".join(place.removeprefix(" at ") for place in kept)
        lines.append(f"Not compared where k keeps every key within the span: {places}.")
    ended = set(seen.finished["variant"])
    lost = [
        each
        for each in seen.comparisons
        if each.is_unmatched and {each.variant, each.baseline} <= ended
    ]
    lost = [each for each in lost if not _is_unmoved(each, seen)]
    if lost and seen.differences:
        names = join(
            [f"{quoted(each.variant)}{place_on(seen.axes, each.S, each.k)}" for each in lost]
        )
        lines.append(
            f"Not compared, because the baseline has no run with the same corpus, seed, S and k: {names}."
        )
    return lines


def _on_fewer_corpora(seen: Evidence) -> list[str]:
    """Name the variants that were compared on some of the corpora only."""
    named: dict[str, dict[str, None]] = {}
    for each in seen.differences[1:]:
        on = [corpus for corpus in seen.corpora if corpus in each.by_corpus]
        if len(on) < len(seen.corpora):
            named.setdefault(join(on), {})[quoted(each.variant)] = None
    return [f"Compared on {on} only: {join([*names])}." for on, names in named.items()]


def _is_unmoved(comparison: Comparison, seen: Evidence) -> bool:
    """Say whether a comparison lacks its pairs because learned spans hardly moved."""
    names = [comparison.variant, comparison.baseline]
    return bool(hardly_moved(seen.own)[seen.own["variant"].isin(names)].any())


def _same_runs(seen: Evidence) -> list[str]:
    """Name the variants that ask for the same jobs as their baselines at this scale."""
    jobs = {
        variant: set(rows["digest"]) for variant, rows in seen.own.groupby("variant", sort=False)
    }
    same: dict[str, list[str]] = {}
    for variant, base in seen.of.items():
        if variant in jobs and base in jobs and jobs[variant] <= jobs[base]:
            same.setdefault(base, []).append(quoted(variant))
    return [
        f"{capital(join(names))} and {quoted(base)} are the same at this scale."
        for base, names in same.items()
    ]


def along_grid(seen: Evidence) -> list[str]:
    """Say how a few variants change from the smallest S, or k, to the largest."""
    lines: dict[str, list[str]] = {}
    for each in seen.changes:
        change = each.difference
        sign = f"; {_on_each_corpus(change)}" if change.signs_differ else ""
        text = f"{quoted(change.variant)} {change.size} (95 % CI {change.interval}{sign})"
        lines.setdefault(f"From {each.axis} = {each.ends[0]:g} to {each.ends[1]:g}", []).append(
            text
        )
    return [f"{ends}: {join(parts)}." for ends, parts in lines.items()]


def of_runs(runs: pd.DataFrame, score: str) -> list[str]:
    """Count the runs that failed, by status, and those that ended well without a score."""
    runs = runs.assign(
        status=runs["status"].mask((runs["status"] == "ok") & runs[score].isna(), "not scored")
    )
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    if not len(broken):
        return []
    kinds = join(
        [f"{how_many} {status}" for status, how_many in broken["status"].value_counts().items()]
    )
    return [f"{len(broken)} of {count(runs['digest'].nunique(), 'run')} failed ({kinds})."]


def failed_at_sizes(runs: pd.DataFrame) -> list[str]:
    """Count the runs at other sizes than the scale's own that failed."""
    others = runs[(runs["size"] != 1) & (runs["status"] != "ok")]
    return [
        f"{capital(quoted(variant))} at size {size:g}: {count(len(rows), 'run')} failed ({rows['reason'].iloc[0]})."
        for (variant, size), rows in others.groupby(["variant", "size"], sort=False)
    ]


def missing_sizes(asked: list[float], runs: pd.DataFrame) -> list[str]:
    """Say which of the sizes that a question asks for have no runs, or runs of some variants and
    corpora only.
    """
    models = runs[["size", "variant", "corpus"]].drop_duplicates()
    every, trained = (
        len(models[["variant", "corpus"]].drop_duplicates()),
        models["size"].value_counts(),
    )
    none = [f"{size:g}" for size in asked if size not in trained]
    lines = [f"Models of size {join(none)} are not trained yet."] if none else []
    for size in (each for each in asked if 0 < trained.get(each, 0) < every):
        lines.append(
            f"At size {size:g}, {trained[size]} of {every} pairs of variant and corpus are trained so far."
        )
    return lines


def spans(finished: pd.DataFrame, tokens: str) -> list[str]:
    """Give the mean span of models with learned spans, at the largest S, on each corpus."""
    learned = learned_spans(finished[finished["mean_span"].notna()])
    lines = []
    for variant, rows in list(learned.groupby("variant", sort=False))[:NAMED]:
        rows = largest(rows)
        still = hardly_moved(rows).groupby(rows["title"], sort=False).all()
        means = rows.groupby("title", sort=False)[["mean_span", "start_span"]].mean()
        parts = []
        for title, mean in means.iterrows():
            on = f" on {title}" if len(means) > 1 else ""
            start = (
                f" (barely above its initial value of {mean['start_span']:.0f})"
                if still[title]
                else ""
            )
            parts.append(f"{mean['mean_span']:.0f}{on}{start}")
        lines.append(
            f"Mean span of {quoted(variant)}: {join(parts)}; limit {rows['S'].max():.0f} {tokens}."
        )
    return lines


def cost_alone(rows: pd.DataFrame, tokens: str) -> str:
    """Write what one variant costs, where there is nothing to compare it with; empty without
    measurements.
    """
    costs = ("macs_executed", "memory_train_bytes", "train_tokens_per_s")
    means = {
        name: rows.groupby("configuration")[name].mean().mean() for name in costs if name in rows
    }
    said = {
        "macs_executed": lambda macs: f"{number(macs)} MACs per {tokens.removesuffix('s')}",
        "memory_train_bytes": lambda size: f"{number(size, 'bytes')} of training memory",
        "train_tokens_per_s": lambda speed: f"a training speed of {number(speed)} {tokens}/s",
    }
    parts = [write(means[name]) for name, write in said.items() if is_number(means.get(name))]
    return f"Cost: {join(parts)}." if parts else ""


def name_unmoved(still: pd.DataFrame) -> list[str]:
    """Name variants, corpora and limits of models whose learned spans have hardly moved, for a
    caption.
    """
    places = []
    for (variant, title), rows in still.groupby(["variant", "title"], sort=False):
        limits = sorted({int(S) for S in rows["S"].dropna()})
        places.append(f"{variant} on {title}{at_limits(limits)}")
    return places
