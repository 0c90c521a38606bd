"""The page of the headline claims: with one recipe, tuned, over model sizes, and forecast.

A forecast is no verdict: it has its own colour and word, and says how often its predictor was
right.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from workflow.claims.evidence import Evidence, Ledger, LedgerLine, Rung, SetEvidence
from workflow.claims.forecast import Calls, Forecast, Score, back_test, forecast, score
from workflow.claims.measures import LAYERS
from workflow.claims.published import find, studies
from workflow.claims.schema import load_claim
from workflow.report.pages.effect_words import name_basis, say_effect, summarise_disagreeing
from workflow.results.numbers import Form, form_of, join
from workflow.results.registry import MEASURED_BY
from workflow.results.statistics import LEVEL, LOOKS
from workflow.results.trained_enough import converged
from workflow.settings.questions import known_questions, load_question

COSTS = "costs do not depend on the learning rate"
# a trusted predictor's interval holds at least this share of the effects
COVERED = 0.5
ALL = "all"


@dataclass(frozen=True)
class HeadlineVerdict:
    """The verdict on a claim with one recipe, or with each variant tuned.

    said: the effect and its interval in words. basis: what the interval is over. looks: how many
    planned interim analyses the seeds complete. otherwise_on: corpora that contradict the verdict.
    set: the set of results.
    """

    verdict: str
    effect: float | None
    said: tuple[str, str]
    basis: str
    looks: int | None
    otherwise_on: tuple[str, ...]
    set: str


@dataclass(frozen=True)
class WrittenInterval:
    """An effect and its interval as text; low, high: empty without one."""

    effect: str
    low: str
    high: str


@dataclass(frozen=True)
class SizeRow:
    """The effect at a model size.

    parameters: mean of both sides. on: the corpora, where other sizes have more.
    """

    parameters: float
    on: str | None
    written: WrittenInterval


@dataclass(frozen=True)
class ForecastRow:
    """The forecast of a predictor, and how often it was right."""

    predictor: str
    written: WrittenInterval
    score: Score


@dataclass(frozen=True)
class Forecasts:
    """The forecasts of all predictors with a score, at the papers' model size.

    at: parameters of each side there. times: how much larger that is than the largest size
    measured. agree: whether all predict the same sign.
    """

    told: tuple[ForecastRow, ...] = ()
    at: tuple[float, ...] = ()
    times: float = 1.0
    agree: bool = True


@dataclass(frozen=True)
class HeadlineRow:
    """A claim of an abstract, tested in four ways.

    recipe: of the set whose verdict is shown. disagreeing: a sentence on scales that disagree.
    tuned: None where nothing was tuned; untuned then says why. differs: whether tuning gives
    another verdict than one recipe at that scale. same: whether it gives the same numbers.
    sizes, of_sizes: the effect at each size, and the set that it is from; None without one.
    has_ladder: whether the claim names several sizes. caveat: what these change besides size.
    """

    name: str
    claim: str
    where: str
    abstract: str
    unit: str
    recipe: HeadlineVerdict
    disagreeing: str
    tuned: HeadlineVerdict | None
    differs: bool
    same: bool
    untuned: str
    sizes: tuple[SizeRow, ...]
    of_sizes: str | None
    has_ladder: bool
    caveat: str | None
    forecasts: Forecasts


@dataclass(frozen=True)
class HeadlineClaimsPage:
    """What the page shows.

    own: the set of results that it is about. papers: heading and claims. scores: of the predictors,
    over all effects and in each unit. trusted: predictors. untrusted_in: units in which none is.
    few: whether there are too few effects to trust a predictor. calls: how smaller scales predicted
    larger ones. looks: planned interim analyses. titles: of the claims, by name.
    """

    title: str
    own: str
    papers: list[tuple[str, list[HeadlineRow]]]
    scores: dict[str, list[Score]]
    trusted: list[str]
    untrusted_in: list[str]
    few: bool
    calls: list[Calls]
    looks: tuple[int, ...]
    titles: dict[str, str]


def headline_claims_page(ledger: Ledger) -> HeadlineClaimsPage:
    """Collect what the page shows."""
    scores = _score_predictors(ledger.claims)
    of_all = scores.get(ALL, [])
    papers = []
    for name, study in studies().items():
        rows = []
        for line in ledger.claims:
            if line.abstract and line.paper == name:
                rows.append(_row(line, scores.get(line.unit, of_all)))
        if rows:
            papers.append((study.heading, rows))
    untrusted_in = []
    for part, alone in scores.items():
        if part != ALL and not any(map(_is_trusted, alone)):
            untrusted_in.append(part)
    return HeadlineClaimsPage(
        title="Headline claims",
        own=ledger.set,
        papers=papers,
        scores=scores,
        trusted=[each.predictor for each in of_all if _is_trusted(each)],
        untrusted_in=untrusted_in,
        few=any(map(_are_too_few, of_all)),
        calls=back_test(ledger.claims),
        looks=LOOKS,
        titles={line.name: line.claim for line in ledger.claims},
    )


def _score_predictors(lines: Iterable[LedgerLine]) -> dict[str, list[Score]]:
    """Back-test the predictors on all ladders, and on those of each unit if there are several."""
    ladders: dict[str, list[tuple[Rung, ...]]] = {ALL: []}
    for line in lines:
        for each in line.sets:
            if each.sizes:
                ladders[ALL].append(each.sizes)
                ladders.setdefault(line.unit or "", []).append(each.sizes)
    if len(ladders) == 2:
        ladders = {ALL: ladders[ALL]}
    scores = {}
    for part, of_part in ladders.items():
        tested = [each for each in score(of_part) if each.ladders]
        if tested:
            scores[part] = tested
    return scores


def _is_trusted(each: Score) -> bool:
    return each.by_coin <= LEVEL and each.covered >= COVERED * each.ladders


def _are_too_few(each: Score) -> bool:
    """Whether the ladders are so few that all signs may be right by chance."""
    return replace(each, sign=each.ladders).by_coin > LEVEL


def _row(line: LedgerLine, scores: list[Score]) -> HeadlineRow:
    """Write a claim. scores: of the predictors, in the claim's unit if there are several."""
    ladder = load_claim(line.name).sizes
    row = HeadlineRow(
        name=line.name,
        claim=line.claim,
        where=line.where,
        abstract=line.abstract,
        unit=line.unit or "",
        recipe=_write_verdict(line.shown, line, line.speaks, line.shown.otherwise_on),
        disagreeing=summarise_disagreeing(line),
        tuned=None,
        differs=False,
        same=False,
        untuned=_why_untuned(line),
        sizes=(),
        of_sizes=None,
        has_ladder=ladder is not None,
        caveat=None,
        forecasts=Forecasts(),
    )
    tuned = next((each for each in line.sets if each.tuned), None)
    if tuned:
        row = replace(
            row,
            tuned=_write_verdict(tuned.tuned, line, tuned.set, ()),
            differs=tuned.tuned.verdict != tuned.verdict,
            same=tuned.tuned.effect == tuned.effect,
        )
    sized = _longest_ladder(line.sets)
    if sized:
        row = replace(
            row,
            sizes=_write_sizes(sized.sizes, line),
            of_sizes=sized.set,
            caveat=ladder.caveat,
            forecasts=_write_forecasts(line, sized.sizes, scores),
        )
    return row


def _write_verdict(
    evidence: Evidence, line: LedgerLine, set_name: str, otherwise_on: tuple[str, ...]
) -> HeadlineVerdict:
    return HeadlineVerdict(
        verdict=evidence.verdict,
        effect=evidence.effect,
        said=say_effect(evidence, line),
        basis=name_basis(evidence),
        looks=evidence.looks,
        otherwise_on=otherwise_on,
        set=set_name,
    )


def _why_untuned(line: LedgerLine) -> str:
    """Say why the variants of a claim were not tuned."""
    claim = load_claim(line.name)
    if claim.scale:
        return f"requires the models and datasets of scale {claim.scale}"
    if line.question == LAYERS or any(name in MEASURED_BY for name in line.measure):
        return COSTS
    if line.question in known_questions() and load_question(line.question).trials:
        return "not tuned: the tuned runs are missing"
    return "not tuned: the question does no tuning"


def _longest_ladder(sets: Iterable[SetEvidence]) -> SetEvidence | None:
    """Return the set with the most sizes; of several a converged one, then the strongest."""
    longest = max(sets, key=_length_of_ladder)
    return longest if _known(longest.sizes) else None


def _length_of_ladder(evidence: SetEvidence) -> tuple[int, bool]:
    """Return the number of sizes, and whether the models of all had stopped learning."""
    known = _known(evidence.sizes)
    has_converged = all(converged(rung.late_gain) for rung in known)
    return len(known), has_converged


def _known(rungs: tuple[Rung, ...] | None) -> list[Rung]:
    """Select the sizes at which there is an effect."""
    return [rung for rung in rungs or () if rung.effect is not None]


def _form_of(with_interval: list[Rung | Forecast], every: list[Rung | Forecast], unit: str) -> Form:
    """Choose one form for several effects and their intervals."""
    effects = [each.effect for each in every]
    halves = [(each.high - each.low) / 2 for each in with_interval]
    return form_of(effects, halves, unit or "")


def _write_interval(each: Rung | Forecast, form: Form) -> WrittenInterval:
    return WrittenInterval(
        effect=form.text(each.effect),
        low=form.text(each.low),
        high=form.text(each.high),
    )


def _write_sizes(rungs: tuple[Rung, ...], line: LedgerLine) -> tuple[SizeRow, ...]:
    """Write the effect at each size, with its interval."""
    known = _known(rungs)
    with_interval = [rung for rung in known if rung.low is not None]
    form = _form_of(with_interval, known, line.unit)
    most = max(len(rung.texts) for rung in known)
    written = []
    for rung in known:
        parameters = (rung.parameters.ours + rung.parameters.than) / 2
        on = join(rung.texts) if len(rung.texts) < most else None
        written.append(SizeRow(parameters, on, _write_interval(rung, form)))
    return tuple(written)


def _write_forecasts(line: LedgerLine, rungs: tuple[Rung, ...], scores: list[Score]) -> Forecasts:
    """Write the forecast of each predictor with a score, at the papers' model size."""
    score_of = {each.predictor: each for each in scores}
    ours, than = (find(key).number for key in load_claim(line.name).sizes.at)
    predicted = {}
    for name, each in forecast(rungs, (ours, than)).items():
        if name in score_of:
            predicted[name] = each
    every = list(predicted.values())
    form = _form_of(every, every, line.unit)
    rows = []
    for name, each in predicted.items():
        rows.append(ForecastRow(name, _write_interval(each, form), score_of[name]))
    largest = _known(rungs)[-1].parameters
    ratio = (ours * than) / (largest.ours * largest.than)
    signs = {each.effect > 0 for each in every}
    return Forecasts(
        told=tuple(rows),
        at=(ours, than),
        times=math.sqrt(ratio),
        agree=len(signs) < 2,
    )
