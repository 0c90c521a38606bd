"""Collect the evidence for one claim: its runs, pairs and interval, and a verdict where p decides
nothing.

`workflow.claims.ledger` judges the others, because p is corrected for the number of claims.
"""

from dataclasses import replace
from statistics import fmean

from workflow.claims.evidence import Line, Pair, Verdict
from workflow.claims.find_runs import was_run
from workflow.claims.interval import make_interval, mean_effect
from workflow.claims.measures import LAYERS, kind_of_pairs
from workflow.claims.printed import read_finding, recompute
from workflow.claims.samples import Sample, describe_places, pair_up, read_sample
from workflow.claims.schema import (
    Claim,
    claimed_range,
    describe_expectation,
    describe_measure,
    unit_of_effect,
)
from workflow.claims.verdict import (
    NOT_ASKED,
    judge_samples,
    judge_unmoved,
    judge_without_interval,
)
from workflow.results import provenance
from workflow.results.datasets import names_of_texts, title_of
from workflow.results.numbers import join
from workflow.results.runs_table import Frames
from workflow.results.statistics import mean_of


def collect_evidence(name: str, claim: Claim, frames: Frames) -> Line:
    """Collect what does not depend on other claims.

    Without a verdict yet where p has to be corrected. `tuned` and `sizes` are added by
    `workflow.claims.robustness`.
    """
    line = describe_claim(name, claim)
    if claim.recomputed:
        return recompute(claim, line)
    line = replace(line, unit=unit_of_effect(claim))
    if not was_run(claim, frames):
        return line.judged(Verdict("not tested", NOT_ASKED))
    ours = read_sample(claim, claim.ours, frames)
    than = read_sample(claim, claim.than, frames) if claim.than else None
    digests = ours.digests
    if than is not None:
        digests |= than.digests
    digests = tuple(sorted(digests))
    signed = provenance.signatures(frames.runs, digests)
    line = replace(line, digests=digests, signed=signed)
    verdict = judge_samples(claim, ours, than, frames)
    if verdict:
        return line.judged(verdict)
    pairs = pair_up(claim, ours, than)
    if not pairs:
        return line.judged(Verdict("inconclusive", "the two sides share no corpus and seed"))
    line = _with_pairs(line, claim, ours, than, pairs, frames)
    if claim.by == "ratio" and min(pair.effect for pair in pairs) <= 0:
        return line.judged(Verdict("inconclusive", "a ratio needs positive values"))
    line = _with_datasets(line, claim, pairs, frames)
    line = replace(_weigh(line, claim, pairs), late_gain=_late_gain(claim, ours, than, pairs))
    verdict = judge_unmoved(claim, ours, than, pairs)
    return replace(line, p=None).judged(verdict) if verdict else line


def describe_claim(name: str, claim: Claim) -> Line:
    """Write what is known of a claim without any run."""
    measures = [claim.measured(side) for side in claim.sides]
    return Line(
        name=name,
        claim=claim.claim,
        paper=claim.paper,
        where=claim.where,
        question=claim.question,
        published=tuple(claim.published),
        by=claim.by,
        caveat=claim.caveat,
        tried=claim.tried,
        abstract=claim.abstract,
        disputed=claim.disputed,
        expected=describe_expectation(claim),
        compared=describe_measure(claim),
        measure=tuple(dict.fromkeys(measures)),
        claimed=claimed_range(claim),
        finding=read_finding(claim),
    )


def _with_pairs(
    line: Line,
    claim: Claim,
    ours: Sample,
    than: Sample | None,
    pairs: tuple[Pair, ...],
    frames: Frames,
) -> Line:
    """Add the pairs, the mean of each side, and where they were measured."""
    texts = [pair.text for pair in pairs]
    base = None
    if than is not None:
        base = mean_of([pair.than for pair in pairs], texts)
    return replace(
        line,
        pairs=pairs,
        of=kind_of_pairs(claim.measured(claim.ours)),
        ours=mean_of([pair.ours for pair in pairs], texts),
        than=base,
        at=describe_places(ours, than),
        setting=_setting(claim, frames, pairs),
    )


def _setting(claim: Claim, frames: Frames, pairs: tuple[Pair, ...]) -> dict[str, str]:
    """Return where an effect was measured: width, updates and device of the paired runs."""
    if claim.question == LAYERS:
        return {"device": join(sorted(frames.layers["device"].unique()))}
    runs = frames.runs[frames.runs["digest"].isin(_paired_runs(pairs))]
    setting = {}
    for name, column in (("width", "d_model"), ("updates", "steps")):
        values = sorted(runs[column].unique())
        setting[name] = join([f"{value:,.0f}" for value in values])
    setting["device"] = join(sorted(runs["device"].unique()))
    return setting


def _paired_runs(pairs: tuple[Pair, ...]) -> set[str]:
    """Collect the digests of the runs behind the pairs."""
    digests = set()
    for pair in pairs:
        digests.update(pair.runs.ours, pair.runs.than)
    return digests


def _with_datasets(line: Line, claim: Claim, pairs: tuple[Pair, ...], frames: Frames) -> Line:
    """Name the datasets: badges of all, the mean effect on each, and their titles in the pairs.

    Layers use no dataset.
    """
    effects_on: dict[str, list[float]] = {}
    for pair in pairs:
        effects_on.setdefault(pair.text, []).append(pair.effect)
    badges = {}
    titles = {}
    if claim.question != LAYERS:
        runs = frames.runs[frames.runs["question"] == claim.question]
        badges = names_of_texts(runs)
        task = runs["task"].iloc[0]
        titles = {corpus: title_of(task, corpus) for corpus in badges}
    by_text = None
    if len(effects_on) > 1:
        by_text = {badges[corpus]: fmean(effects) for corpus, effects in effects_on.items()}
    return replace(
        line,
        texts=tuple(badge for corpus, badge in badges.items() if corpus in effects_on),
        by_text=by_text,
        pairs=tuple(replace(pair, text=titles.get(pair.text, pair.text)) for pair in pairs),
    )


def _weigh(line: Line, claim: Claim, pairs: tuple[Pair, ...]) -> Line:
    """Add the mean effect with its interval and p, or a verdict where there is no interval."""
    effects = [pair.effect for pair in pairs]
    texts = [pair.text for pair in pairs]
    verdict = judge_without_interval(claim, effects, texts)
    if verdict:
        effect = mean_effect(claim, effects, texts)
        return replace(line, effect=effect, n=len(effects)).judged(verdict)
    return replace(line, **vars(make_interval(claim, effects, texts)))


def _late_gain(
    claim: Claim, ours: Sample, than: Sample | None, pairs: tuple[Pair, ...]
) -> float | None:
    """Return the largest late gain of the paired runs, in bits; None where it changes nothing."""
    gains = dict(ours.late_gains)
    if than is not None:
        gains |= than.late_gains
    if not gains and not claim.is_about_quality:
        return None
    return max((gains.get(digest, 0.0) for digest in _paired_runs(pairs)), default=0.0)
