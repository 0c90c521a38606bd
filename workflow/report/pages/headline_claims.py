"""The page of the headline claims: with one recipe, with each variant tuned, over model sizes, and
forecast.

A forecast is no verdict: it has its own colour and word, and says how often its predictor was
right.
"""

import math
from itertools import chain
from operator import itemgetter

from workflow.claims.backtest import back_test
from workflow.claims.forecast import Forecast, Score, forecast, score
from workflow.claims.ledger import speaking
from workflow.claims.measures import LAYERS
from workflow.claims.published import find, studies
from workflow.claims.schema import load_claim
from workflow.plan.questions import known_questions, load_question
from workflow.report.pages.claims import Ledger, name_basis, say_effect, summarise_disagreeing
from workflow.report.pages.headlines import list_headlines
from workflow.results.numbers import Form, form_of, join
from workflow.results.registry import MEASURED_BY
from workflow.results.statistics import LEVEL, LOOKS
from workflow.results.trained_enough import converged

COSTS = "costs do not depend on the learning rate"
# of the ladders: what a predictor has to cover, and to call more than a coin, for anybody to trust
# it
COVERED = 0.5
ALL = "all"


def headline_claims_page(ledger: Ledger) -> dict:
    """Collect what the page shows."""
    parts = _scores(ledger.claims)
    of_all = parts.get(ALL, [])
    lines = list_headlines(ledger.claims)
    papers = [
        (study.heading, [line for line in lines if line["paper"] == name])
        for name, study in studies().items()
    ]
    return {
        "title": "Headline claims",
        "own": ledger.set,
        "papers": [
            (title, [_line(line, parts.get(line["unit"], of_all)) for line in mine])
            for title, mine in papers
            if mine
        ],
        "scores": parts,
        "trusted": [each.predictor for each in of_all if _is_trusted(each)],
        "untrusted_in": [
            part
            for part, scores in parts.items()
            if part != ALL and not any(map(_is_trusted, scores))
        ],
        "few": any(_would_coin_do(each) for each in of_all),
        "calls": back_test(ledger.claims),
        "looks": LOOKS,
        "titles": {line["name"]: line["claim"] for line in ledger.claims},
    }


def _scores(lines: list[dict]) -> dict[str, list[Score]]:
    """Back-test the predictors on all ladders of the claims and, where they have several units, on
    those of each.
    """
    of_unit: dict[str, list[list[dict]]] = {}
    for line in lines:
        for each in filter(itemgetter("sizes"), line["sets"]):
            of_unit.setdefault(line["unit"] or "", []).append(each["sizes"])
    parts = {ALL: [*chain(*of_unit.values())]} | (of_unit if len(of_unit) > 1 else {})
    scores = {
        part: [each for each in score(ladders) if each.ladders] for part, ladders in parts.items()
    }
    return {part: each for part, each in scores.items() if each}


def _is_trusted(each: Score) -> bool:
    return each.by_coin <= LEVEL and each.covered >= COVERED * each.ladders


def _would_coin_do(each: Score) -> bool:
    """Whether the ladders are so few that a coin may call all of them."""
    return each._replace(sign=each.ladders).by_coin > LEVEL


def _longest_ladder(sets: list[dict]) -> dict | None:
    """Return the set with the most sizes, of several one that has converged, then the strongest,
    which comes first.
    """
    longest = max(
        sets, key=lambda each: (len(_known(each["sizes"])), _has_converged(each["sizes"]))
    )
    return longest if _known(longest["sizes"]) else None


def _has_converged(rungs: list[dict] | None) -> bool:
    """Whether the models of all sizes had stopped learning."""
    return all(converged(rung["late_gain"]) for rung in _known(rungs))


def _known(rungs: list[dict] | None) -> list[dict]:
    """Select the sizes at which there is an effect."""
    return [rung for rung in rungs or [] if rung["effect"] is not None]


def _line(line: dict, scores: list[Score]) -> dict:
    """Write a claim. scores: of the predictors, in the claim's unit where claims with ladders have
    several.
    """
    evidence, unit = speaking(line), line["unit"] or ""
    tuned, sized = (
        next((each for each in line["sets"] if each["tuned"]), None),
        _longest_ladder(line["sets"]),
    )
    return {
        "name": line["name"],
        "claim": line["claim"],
        "where": line["where"],
        "abstract": line["abstract"],
        "unit": unit,
        "recipe": _verdict(evidence, line) | {"verdict": line["overall"]},
        "disagreeing": summarise_disagreeing(line),
        "tuned": _verdict(tuned["tuned"], line) | {"set": tuned["set"]} if tuned else None,
        "differs": bool(tuned) and tuned["tuned"]["verdict"] != tuned["verdict"],
        "same": bool(tuned) and tuned["tuned"]["effect"] == tuned["effect"],
        "untuned": _why_untuned(line),
        "sizes": _sizes(sized["sizes"], line) if sized else [],
        "of_sizes": sized["set"] if sized else None,
        "has_ladder": load_claim(line["name"]).sizes is not None,
        "caveat": load_claim(line["name"]).sizes.caveat if sized else None,
        "forecasts": _forecasts(line, sized["sizes"], scores) if sized else {"told": []},
    }


def _verdict(evidence: dict, line: dict) -> dict:
    shown = {
        key: evidence.get(key)
        for key in ("verdict", "why", "set", "low", "effect", "looks", "otherwise_on")
    }
    return shown | {"said": say_effect(evidence, line), "basis": name_basis(evidence)}


def _why_untuned(line: dict) -> str:
    """Say why the variants of a claim were not tuned."""
    claim = load_claim(line["name"])
    if claim.scale:
        return f"requires the models and datasets of scale {claim.scale}"
    costs = line["question"] == LAYERS or any(name in MEASURED_BY for name in line["measure"])
    if costs:
        return COSTS
    tried = line["question"] in known_questions() and load_question(line["question"]).trials
    return (
        "not tuned: the tuned runs are missing"
        if tried
        else "not tuned: the question does no tuning"
    )


def _form(effects: list[float], bounds: list[tuple[float, float]], unit: str) -> Form:
    return form_of(effects, [(high - low) / 2 for low, high in bounds], unit)


def _sizes(rungs: list[dict], line: dict) -> list[dict]:
    """Write the effect at each size, with its interval. on: its texts, where other sizes have
    more.
    """
    known = _known(rungs)
    texts = max(len(rung["texts"]) for rung in known) if known else 0
    bounds = [(rung["low"], rung["high"]) for rung in known if rung["low"] is not None]
    write = _form([rung["effect"] for rung in known], bounds, line["unit"] or "").text
    return [
        {
            "size": rung["size"],
            "parameters": sum(rung["parameters"].values()) / 2,
            "on": join(rung["texts"]) if len(rung["texts"]) < texts else None,
            "written": {key: write(rung[key]) for key in ("effect", "low", "high")},
        }
        for rung in known
    ]


def _forecasts(line: dict, rungs: list[dict], scores: list[Score]) -> dict:
    """Write what each predictor says of nets of the papers' size; without its score it says
    nothing.

    times: how much larger those are than the largest measured. agree: whether all predict the same
    sign.
    """
    score_of = {each.predictor: each for each in scores}
    at = tuple(find(key).value for key in load_claim(line["name"]).sizes.at)
    told: dict[str, Forecast] = {
        name: each for name, each in forecast(rungs, at).items() if name in score_of
    }
    write = _form(
        [each.effect for each in told.values()],
        [each[1:] for each in told.values()],
        line["unit"] or "",
    )
    lines = [
        {
            "predictor": name,
            "written": {key: write.text(getattr(each, key)) for key in each._fields},
        }
        | {"score": score_of[name]}
        for name, each in told.items()
    ]
    largest = math.prod(_known(rungs)[-1]["parameters"].values())
    agree = len({each.effect > 0 for each in told.values()}) < 2
    return {"told": lines, "at": at, "times": math.sqrt(math.prod(at) / largest), "agree": agree}
