"""Collect the evidence for a claim: its runs, pairs and interval, and what the paper prints.

A verdict is given here where p decides nothing. `workflow.claims.ledger` judges the others, because
p is corrected for the number of claims. The evidence is collected on one recipe, with each variant
tuned, and at each size of the claim's ladder.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean

import pandas as pd

from workflow.claims.evidence import (
    Line,
    Parameters,
    PrintedFinding,
    QuestionEvidence,
    Rung,
    Scores,
)
from workflow.claims.interval import has_interval, make_interval, mean_effect
from workflow.claims.measures import LAYERS, kind_of_pairs
from workflow.claims.published import Published, find, with_origin
from workflow.claims.samples import Sides, describe_places, read_sides, was_run
from workflow.claims.schema import (
    Claim,
    claimed_range,
    describe_expectation,
    describe_measure,
    unit_of_effect,
)
from workflow.claims.verdict import (
    NOT_RUN,
    judge_effects,
    judge_recomputed,
    judge_sides,
    judge_values,
)
from workflow.results import provenance
from workflow.results.datasets import name_badges, names_of_texts, title_of
from workflow.results.numbers import join, number, to_place
from workflow.results.registry import MEASURED_BY, bounds_of
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.statistics import mean_of
from workflow.results.trained_enough import hardly_moved


def collect_about(
    about: Mapping[str, Claim], on_sizes: Mapping[str, Claim], frames: Frames
) -> QuestionEvidence:
    """Collect the evidence that the runs of a question give.

    about: the claims about it, by name. on_sizes: the claims tested on its model sizes.
    """
    return QuestionEvidence(
        provenance=describe_runs(frames.runs, name_badges(frames.runs)),
        claims=tuple(collect(about, frames)),
        sizes={name: collect_sizes(name, claim, frames) for name, claim in on_sizes.items()},
    )


def collect(claims: Mapping[str, Claim], frames: Frames) -> list[Line]:
    """Collect the evidence for claims, by name, with tuned variants and other sizes."""
    lines = []
    for name, claim in claims.items():
        line = collect_evidence(name, claim, frames)
        tuned = collect_tuned(name, claim, frames)
        sizes = collect_sizes(name, claim, frames)
        lines.append(replace(line, tuned=tuned, sizes=sizes))
    return lines


# --- on one recipe -----------------------------------------------------------------------------


def collect_evidence(name: str, claim: Claim, frames: Frames) -> Line:
    """Collect what does not depend on other claims, without `tuned` and `sizes`.

    Without a verdict yet where p has to be corrected.
    """
    line = describe_claim(name, claim)
    if claim.recomputed:
        return _recompute(line, claim)
    line = replace(line, unit=unit_of_effect(claim))
    if not was_run(claim, frames):
        return line.judged(NOT_RUN)
    sides = read_sides(claim, frames)
    signed = provenance.signatures(frames.runs, sides.digests)
    line = replace(line, digests=sides.digests, signed=signed)
    verdict = judge_sides(sides)
    if verdict:
        return line.judged(verdict)
    line = _with_pairs(line, sides, frames)
    verdict = judge_values(sides)
    if verdict:
        return line.judged(verdict)
    line = _with_datasets(line, sides, frames)
    line = replace(_weigh(line, sides), late_gain=_late_gain(sides))
    verdict = judge_effects(sides)
    if verdict:
        return replace(line, p=None).judged(verdict)
    return line


def describe_claim(name: str, claim: Claim) -> Line:
    """Write what is known of a claim without any run."""
    measures = [claim.measured(side) for side in claim.sides]
    return Line(
        name=name,
        claim=claim.claim,
        paper=claim.paper,
        where=with_origin(claim.where, claim.origin),
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


def _with_pairs(line: Line, sides: Sides, frames: Frames) -> Line:
    """Add the pairs, the mean of each side, and where they were measured."""
    claim = sides.claim
    ours = [pair.ours for pair in sides.pairs]
    base = None
    if sides.than is not None:
        base = mean_of([pair.than for pair in sides.pairs], sides.texts)
    return replace(
        line,
        pairs=sides.pairs,
        of=kind_of_pairs(claim.measured(claim.ours)),
        ours=mean_of(ours, sides.texts),
        than=base,
        at=describe_places(sides),
        setting=_setting(sides, frames),
    )


def _setting(sides: Sides, frames: Frames) -> dict[str, str]:
    """Return where an effect was measured: width, updates and device of the paired runs."""
    if sides.claim.question == LAYERS:
        devices = sorted(frames.layers["device"].unique())
        return {"device": join(devices)}
    is_paired = frames.runs["digest"].isin(sides.paired_digests)
    runs = frames.runs[is_paired]
    setting = {}
    for name, column in (("width", "d_model"), ("updates", "steps")):
        values = sorted(runs[column].unique())
        setting[name] = join([f"{value:,.0f}" for value in values])
    devices = sorted(runs["device"].unique())
    setting["device"] = join(devices)
    return setting


def _with_datasets(line: Line, sides: Sides, frames: Frames) -> Line:
    """Name the datasets: badges of all, the mean effect on each, and their titles in the pairs.

    Layers use no dataset.
    """
    effects_on: dict[str, list[float]] = {}
    for pair in sides.pairs:
        effects_on.setdefault(pair.text, []).append(pair.effect)
    badges = {}
    titles = {}
    question = sides.claim.question
    if question != LAYERS:
        runs = frames.runs[frames.runs["question"] == question]
        badges = names_of_texts(runs)
        task = runs["task"].iloc[0]
        titles = {corpus: title_of(task, corpus) for corpus in badges}
    by_text = None
    if len(effects_on) > 1:
        by_text = {badges[corpus]: fmean(effects) for corpus, effects in effects_on.items()}
    pairs = []
    for pair in sides.pairs:
        title = titles.get(pair.text, pair.text)
        pairs.append(replace(pair, text=title))
    return replace(
        line,
        texts=tuple(badge for corpus, badge in badges.items() if corpus in effects_on),
        by_text=by_text,
        pairs=tuple(pairs),
    )


def _weigh(line: Line, sides: Sides) -> Line:
    """Add the mean effect, with its interval and p if it has one."""
    if has_interval(sides):
        return replace(line, **vars(make_interval(sides)))
    return replace(line, effect=mean_effect(sides), n=len(sides.effects))


def _late_gain(sides: Sides) -> float | None:
    """Return the largest late gain of the paired runs, in bits; None where it changes nothing."""
    gains: dict[str, float] = {}
    for sample in sides.samples:
        gains |= sample.late_gains
    if not gains and not sides.claim.is_about_quality:
        return None
    of_paired = [gains.get(digest, 0.0) for digest in sides.paired_digests]
    return max(of_paired, default=0.0)


# --- with each variant tuned, and at each size ---------------------------------------------------


def collect_tuned(name: str, claim: Claim, frames: Frames) -> Line | None:
    """Collect the evidence of the tuned runs.

    None without a pair, and for costs, which tuning cannot change.
    """
    if claim.recomputed or claim.question == LAYERS or frames.others is None:
        return None
    if any(claim.measured(side) in MEASURED_BY for side in claim.sides):
        return None
    others = frames.others
    of_question = others["question"] == claim.question
    is_tuned = others["tuning"] == "tuned"
    rows = others[of_question & is_tuned]
    if rows.empty:
        return None
    evidence = collect_evidence(name, claim, replace(frames, runs=rows))
    return None if evidence.effect is None else evidence


def collect_sizes(name: str, claim: Claim, frames: Frames) -> tuple[Rung, ...]:
    """Collect the evidence at each size of the claim's ladder, smallest first.

    Models whose learned spans barely moved are left out, because their effect says nothing about
    learned spans.
    """
    ladder = claim.sizes
    if ladder is None or frames.runs is None:
        return ()
    rows = frames.at_every_size
    rows = rows[rows["question"] == ladder.question]
    rows = rows[~hardly_moved(rows)]
    # the ladder has its own question and variants, and all of its corpora count
    on_ladder = {
        "question": ladder.question,
        "ours": ladder.ours,
        "than": ladder.than,
        "corpora": [],
    }
    asked = claim.model_copy(update=on_ladder)
    rungs = []
    for size, of_size in rows.groupby("size"):
        rungs.append(_collect_rung(name, asked, size, replace(frames, runs=of_size)))
    return tuple(rungs)


def _collect_rung(name: str, claim: Claim, size: float, frames: Frames) -> Rung:
    line = collect_evidence(name, claim, frames)
    _, most = bounds_of(claim.measured(claim.ours))
    paired_ours = {digest for pair in line.pairs for digest in pair.runs.ours}
    paired_than = {digest for pair in line.pairs for digest in pair.runs.than}
    pairs = []
    for pair in line.pairs:
        pairs.append(Scores(text=pair.text, turn=pair.turn, ours=pair.ours, than=pair.than))
    return Rung(
        size=size,
        parameters=Parameters(
            ours=_mean_parameters(frames.runs, paired_ours, claim.ours.variant),
            than=_mean_parameters(frames.runs, paired_than, claim.than.variant),
        ),
        most=most if math.isfinite(most) else None,
        pairs=tuple(pairs),
        effect=line.effect,
        low=line.low,
        high=line.high,
        n=line.n,
        p=line.p,
        ours=line.ours,
        than=line.than,
        verdict=line.verdict,
        why=line.why,
        digests=line.digests,
        signed=line.signed,
        of=line.of,
        texts=line.texts,
        late_gain=line.late_gain,
    )


def _mean_parameters(runs: pd.DataFrame, paired: set[str], variant: str) -> float:
    """Average the parameters of the paired models; without a pair, of all models of a variant."""
    models = runs["digest"].isin(paired) if paired else runs["variant"] == variant
    return float(runs.loc[models, "parameters"].mean())


# --- what the paper prints -----------------------------------------------------------------------


def _recompute(line: Line, claim: Claim) -> Line:
    """Check whether formulas reproduce the published numbers to the published digits."""
    values = [find(key) for key in claim.recomputed]
    line = replace(line, published=tuple(claim.recomputed))
    if len(values) == 1:
        (value,) = values
        line = replace(line, effect=value.recomputed.result, unit=value.unit)
    return line.judged(judge_recomputed(values))


def read_finding(claim: Claim) -> PrintedFinding | None:
    """Read the published effect; None without one."""
    if claim.finding is None:
        return None
    ours = _read_printed(claim.finding.ours)
    mean = _mean_of(ours)
    if claim.finding.than is None:
        if len(ours) == 1:
            return PrintedFinding(mean, ours[0].text)
        return PrintedFinding(mean, to_place(mean, _place(ours)))
    than = _read_printed(claim.finding.than)
    base = _mean_of(than)
    if claim.by == "ratio":
        ratio = mean / base if base else None
        return PrintedFinding(ratio, number(ratio))
    difference = mean - base
    place = _place([*ours, *than])
    return PrintedFinding(difference, to_place(difference, place))


def _read_printed(ids: str | list[str]) -> list[Published]:
    """Find the published numbers of one side; their mean counts."""
    if isinstance(ids, str):
        return [find(ids)]
    return [find(key) for key in ids]


def _mean_of(values: Iterable[Published]) -> float:
    return fmean(value.number for value in values)


def _place(values: list[Published]) -> float:
    """Return the decimal place that all numbers are printed to."""
    places = [each.place for each in values]
    return max(places)
