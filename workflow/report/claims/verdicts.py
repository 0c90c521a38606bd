"""The verdict of a claim from its effect: of one that was tested, of a count, of too few pairs."""

from workflow.report.claims.expectation import is_as_claimed
from workflow.report.claims.samples import kind_of_pairs
from workflow.report.claims.schema import Claim
from workflow.report.numbers import count
from workflow.results.flatness import FLAT
from workflow.results.statistics import FEWEST, LEVEL

OUTSIDE = "the interval lies outside of what is claimed"
VERDICTS = ("reproduced", "consistent", "not reproduced", "too early", "cannot tell", "not tested")


def judge(line: dict, claim: Claim) -> dict:
    """The verdict of a claim that was tested."""
    toward = is_as_claimed(claim, line["effect"])
    clear, likely = line["holm"] <= LEVEL, line["p"] <= LEVEL
    if toward and clear:
        return {"verdict": "reproduced", "why": "as claimed, also after correction for all claims"}
    if toward and likely:
        return {"verdict": "consistent", "why": "as claimed; significant alone, not after correction for all claims"}
    if _contradicts(line, claim):
        if likely or claim.expect == "equal":
            return _too_early(line) or {
                "verdict": "not reproduced",
                "why": OUTSIDE,
            }
        return {"verdict": "cannot tell", "why": f"{OUTSIDE}, but p is above .05"}
    return {"verdict": "cannot tell", "why": "the interval holds both what is claimed and what is not"}


def _too_early(line: dict) -> dict | None:
    """The verdict where the runs were still learning when they ended."""
    gain = line["late_gain"] or 0.0
    if gain <= FLAT:
        return None
    why = f"{OUTSIDE}, but the last quarter of training still brought {gain:.2g} bits"
    return {"verdict": "too early", "why": why}


def _contradicts(line: dict, claim: Claim) -> bool:
    """Whether no value in the interval is as claimed."""
    outside = not is_as_claimed(claim, line["low"]) and not is_as_claimed(claim, line["high"])
    if claim.expect != "equal":
        return outside
    return outside and (line["low"] > claim.against) == (line["high"] > claim.against)


def judge_constant(claim: Claim, effects: list[float]) -> dict:
    """The verdict where nothing is sampled: a count needs no interval."""
    agree = [is_as_claimed(claim, effect) for effect in effects]
    as_claimed = all(agree)
    if any(agree) and not as_claimed:
        return {"verdict": "cannot tell", "why": "as claimed on some texts, not on others"}
    return {"verdict": "reproduced" if as_claimed else "not reproduced", "why": "it does not vary between seeds"}


def judge_few(claim: Claim, effects: list[float], few: int) -> dict:
    """The verdict where a text has too few pairs for an interval: they say nothing.

    A score may still be held against a printed one, but is at most consistent with it.
    """
    kind = kind_of_pairs(claim)
    if claim.than is not None:
        return {"verdict": "cannot tell", "why": f"{count(few, kind)} on a text: an interval takes {FEWEST}"}
    agree = {is_as_claimed(claim, effect) for effect in effects}
    if len(agree) > 1:
        return {"verdict": "cannot tell", "why": f"as claimed in some of {count(len(effects), kind)}, not in others"}
    verdict, where = ("consistent", "as claimed") if agree == {True} else ("not reproduced", "not as claimed")
    what = f"the best of {claim.best_of} seeds" if claim.best_of else count(few, kind)
    return {"verdict": verdict, "why": f"{where}, by {what}, too few for an interval"}
