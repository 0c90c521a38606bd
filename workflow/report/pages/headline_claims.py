"""The page of the headline claims: with one recipe, tuned, over model sizes, and forecast.

A forecast is no verdict: it has its own colour and word, and says how often its predictor was
right.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from workflow.claims.evidence import Evidence, Ledger, LedgerLine, Rung, SetEvidence
from workflow.claims.forecast import Forecast, Score, back_test, forecast, score
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


def headline_claims_page(ledger: Ledger) -> dict:
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
    return {
        "title": "Headline claims",
        "own": ledger.set,
        "papers": papers,
        "scores": scores,
        "trusted": [each.predictor for each in of_all if _is_trusted(each)],
        "untrusted_in": untrusted_in,
        "few": any(map(_are_too_few, of_all)),
        "calls": back_test(ledger.claims),
        "looks": LOOKS,
        "titles": {line.name: line.claim for line in ledger.claims},
    }


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


def _row(line: LedgerLine, scores: list[Score]) -> dict:
    """Write a claim. scores: of the predictors, in the claim's unit if there are several."""
    tuned = next((each for each in line.sets if each.tuned), None)
    ladder = load_claim(line.name).sizes
    row = {
        "name": line.name,
        "claim": line.claim,
        "where": line.where,
        "abstract": line.abstract,
        "unit": line.unit or "",
        "recipe": _write_verdict(line.shown, line) | {"set": line.speaks},
        "disagreeing": summarise_disagreeing(line),
        "tuned": None,
        "differs": False,
        "same": False,
        "untuned": _why_untuned(line),
        "sizes": [],
        "of_sizes": None,
        "has_ladder": ladder is not None,
        "caveat": None,
        "forecasts": {"told": []},
    }
    if tuned:
        row["tuned"] = _write_verdict(tuned.tuned, line) | {"set": tuned.set, "otherwise_on": None}
        row["differs"] = tuned.tuned.verdict != tuned.verdict
        row["same"] = tuned.tuned.effect == tuned.effect
    sized = _longest_ladder(line.sets)
    if sized:
        row["sizes"] = _write_sizes(sized.sizes, line)
        row["of_sizes"] = sized.set
        row["caveat"] = ladder.caveat
        row["forecasts"] = _write_forecasts(line, sized.sizes, scores)
    return row


def _write_verdict(evidence: Evidence, line: LedgerLine) -> dict:
    return {
        "verdict": evidence.verdict,
        "effect": evidence.effect,
        "looks": evidence.looks,
        "otherwise_on": getattr(evidence, "otherwise_on", ()),
        "said": say_effect(evidence, line),
        "basis": name_basis(evidence),
    }


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


def _write_interval(each: Rung | Forecast, form: Form) -> dict[str, str]:
    return {
        "effect": form.text(each.effect),
        "low": form.text(each.low),
        "high": form.text(each.high),
    }


def _write_sizes(rungs: tuple[Rung, ...], line: LedgerLine) -> list[dict]:
    """Write the effect at each size, with its interval.

    on: the corpora of a size, where other sizes have more.
    """
    known = _known(rungs)
    most = max(len(rung.texts) for rung in known)
    form = _form_of([rung for rung in known if rung.low is not None], known, line.unit)
    written = []
    for rung in known:
        numbers = _write_interval(rung, form)
        written.append(
            {
                "size": rung.size,
                "parameters": (rung.parameters.ours + rung.parameters.than) / 2,
                "on": join(rung.texts) if len(rung.texts) < most else None,
                "written": numbers,
            }
        )
    return written


def _write_forecasts(line: LedgerLine, rungs: tuple[Rung, ...], scores: list[Score]) -> dict:
    """Write the forecast of each predictor with a score, at the papers' model size.

    times: how much larger that is than the largest size measured. agree: whether all predict the
    same sign.
    """
    score_of = {each.predictor: each for each in scores}
    at = tuple(find(key).value for key in load_claim(line.name).sizes.at)
    predicted = {}
    for name, each in forecast(rungs, at).items():
        if name in score_of:
            predicted[name] = each
    every = list(predicted.values())
    form = _form_of(every, every, line.unit)
    rows = []
    for name, each in predicted.items():
        rows.append(
            {
                "predictor": name,
                "written": _write_interval(each, form),
                "score": score_of[name],
            }
        )
    largest = _known(rungs)[-1].parameters
    signs = {each.effect > 0 for each in every}
    return {
        "told": rows,
        "at": at,
        "times": math.sqrt(math.prod(at) / (largest.ours * largest.than)),
        "agree": len(signs) < 2,
    }
