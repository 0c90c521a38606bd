"""The ledger: every claim with its verdict and the evidence for it. A pure function of the runs."""

import math

from workflow.papers.published import find
from workflow.papers.published import load_analytic as analytic
from workflow.report.claims.measures import APART, COUNTED, UNITS
from workflow.report.claims.samples import Reading, effects, reading
from workflow.report.claims.schema import Claim, load_claim
from workflow.report.tables.analytic import rounds
from workflow.results.runs_table import Frames
from workflow.results.statistics import LEVEL, bootstrap_interval, detectable_effect, holm, p_equal, p_of, scatter

VERDICTS = ("reproduced", "consistent", "not reproduced", "cannot tell")
EMPTY = dict.fromkeys(
    ("effect", "low", "high", "n", "p", "holm", "detectable", "ours", "than", "why", "unit", "caveat")
)


def ledger(lines: list[dict]) -> list[dict]:
    """The lines of all claims with their verdicts, in the order of their names: p is corrected for how many were tested."""
    tested = [line for line in lines if line["p"] is not None]
    for line, p in zip(tested, holm([line["p"] for line in tested]), strict=True):
        line["holm"] = p
    judged_lines = [line if line["verdict"] else line | judged(line, load_claim(line["name"])) for line in lines]
    return sorted(judged_lines, key=lambda line: line["name"])


def evidence(name: str, claim: Claim, frames: Frames) -> dict:
    """Everything but what needs the other claims: what was read on both sides, the effect, its interval and p.

    verdict is None where p still has to be corrected for the number of claims.
    """
    line = EMPTY | {key: getattr(claim, key) for key in ("claim", "paper", "where", "ablation", "published", "by")}
    line |= {"name": name, "digests": [], "verdict": None, "expected": expected(claim)}
    line |= {"measure": list(dict.fromkeys(claim.measured(side) for side in claim.sides))}
    if claim.recomputed:
        return line | recomputed(claim)
    line["unit"] = unit(claim)
    if (frames.layers if claim.ablation == APART else frames.runs) is None:
        return line | {"verdict": "cannot tell", "why": f"ablation {claim.ablation} was not asked for"}
    sides = [reading(claim, side, frames) if side else None for side in (claim.ours, claim.than)]
    line |= {"digests": sorted({digest for side in sides if side for digest in side.digests})} | _means(sides)
    missing = _missing(claim, sides, frames)
    sample = [] if missing else effects(claim, *sides)
    if missing or not sample:
        return line | {"verdict": "cannot tell", "why": missing or "no text and seed that both sides have"}
    if claim.by == "ratio" and min(sample) <= 0:
        return line | {"verdict": "cannot tell", "why": "a ratio of what is not more than 0"}
    line |= weighed(claim, sample) | _untested(claim, sides, sample)
    if line["caveat"] and line["verdict"] == "reproduced":
        line |= {"verdict": "consistent", "why": f"{line['why']}; {line['caveat']}"}
    return line


def weighed(claim: Claim, found: list[float]) -> dict:
    """Mean effect over the pairs, interval, p and the smallest effect that could have been seen; of ratios in logs."""
    ratio = claim.by == "ratio"
    values = [math.log(one) for one in found] if ratio else found
    against = math.log(claim.against) if ratio else claim.against
    told = math.exp if ratio else float
    if len(values) < 2 or not scatter(values):
        return {"effect": found[0], "n": len(values)} | _counted(claim, found)
    mean, low, high = (told(one) for one in bootstrap_interval(values))
    p = p_of(values, against) if claim.within is None else p_equal(values, against, claim.room)
    seen = told(detectable_effect(values)) if claim.within is None else None  # of a difference, not of a likeness
    return {"effect": mean, "low": low, "high": high, "n": len(values), "p": p, "detectable": seen}


def _untested(claim: Claim, sides: list[Reading | None], found: list[float]) -> dict:
    """Where the runs differ in nothing, or their spans have not grown: at most that much is said."""
    neutral = float(claim.by == "ratio")
    if claim.expect != "equal" and all(one == neutral for one in found):
        return {"verdict": "cannot tell", "why": "it is the same in every run", "p": None}
    stuck = any(side.stuck for side in sides if side)
    return {"caveat": "on average spans have hardly left where they begin, so this was hardly tested"} if stuck else {}


def _counted(claim: Claim, found: list[float]) -> dict:
    """What does not vary has no interval: what was counted needs none; one value that was sampled says nothing."""
    if len(found) < 2 and claim.measured(claim.ours) not in COUNTED:
        return {"verdict": "cannot tell", "why": "one pair has no interval: it takes two seeds, texts or turns"}
    verdict = "reproduced" if as_claimed(claim, found[0]) else "not reproduced"
    return {"verdict": verdict, "why": "it does not vary between seeds"}


def as_claimed(claim: Claim, effect: float) -> bool:
    """Whether the effect lies where the paper says."""
    if claim.expect == "equal":
        apart = math.log(effect / claim.against) if claim.by == "ratio" else effect - claim.against
        return abs(apart) <= claim.room
    return effect < claim.against if claim.expect == "less" else effect > claim.against


def judged(one: dict, claim: Claim) -> dict:
    """The verdict of a claim that was tested."""
    toward = as_claimed(claim, one["effect"])
    clear, likely = one["holm"] <= LEVEL, one["p"] <= LEVEL
    if toward and clear and not one["caveat"]:
        return {"verdict": "reproduced", "why": "as claimed, and clear among all claims"}
    if toward and likely:
        why = one["caveat"] or "clear by itself, not among so many claims"
        return {"verdict": "consistent", "why": f"as claimed; {why}"}
    if _against(one, claim):
        if likely or claim.expect == "equal":
            return {"verdict": "not reproduced", "why": "the interval lies on the other side"}
        return {"verdict": "cannot tell", "why": "the interval lies on the other side, but p is above .05"}
    return {"verdict": "cannot tell", "why": "the interval holds both what is claimed and what is not"}


def _against(one: dict, claim: Claim) -> bool:
    """Whether no value in the interval is as claimed."""
    if claim.expect != "equal":
        return not as_claimed(claim, one["low"]) and not as_claimed(claim, one["high"])
    same_side = (one["low"] > claim.against) == (one["high"] > claim.against)
    return same_side and not as_claimed(claim, one["low"]) and not as_claimed(claim, one["high"])


def recomputed(claim: Claim) -> dict:
    """Whether formulas give the printed numbers again, to the digits that are printed."""
    found = [(find(key), analytic().recomputed[key].result) for key in claim.recomputed]
    wrong = [f"{one.row}: {ours:.4g}, printed {one.value:g}" for one, ours in found if not rounds(ours, one.value)]
    count, told = len(found), {"published": claim.recomputed}
    if count == 1:
        told |= {"effect": found[0][1], "unit": found[0][0].unit}
    if wrong:
        return told | {"verdict": "not reproduced", "why": f"{len(wrong)} of {count}: {'; '.join(wrong)}"}
    return told | {"verdict": "reproduced", "why": "by formula, to the printed digits"}


def _means(sides: list[Reading | None]) -> dict:
    """The mean of each side."""
    means = [sum(one.values.values()) / len(one.values) if one and one.values else None for one in sides]
    return dict(zip(("ours", "than"), means, strict=True))


def _missing(claim: Claim, sides: list[Reading | None], frames: Frames) -> str | None:
    """Why the claim cannot be weighed; None where it can."""
    if claim.scale and set(frames.runs["scale"]) != {claim.scale}:
        return f"it is about the sizes and texts of scale {claim.scale} alone"
    if claim.ablation != APART and claim.ablation not in set(frames.runs["ablation"]):
        return f"ablation {claim.ablation} was not asked for"
    asked = zip((claim.ours, claim.than), sides, strict=True)
    empty = [side.variant for side, found in asked if side and not found.values]
    if empty:
        return f"nothing measured of {' and '.join(dict.fromkeys(empty))}"
    ours, than = sides
    same = than and ours.values == than.values and claim.measured(claim.ours) == claim.measured(claim.than)
    alike = same and ours.digests == than.digests and (ours.digests or claim.ours.variant == claim.than.variant)
    return "both sides are the same at this scale" if alike else None


def unit(claim: Claim) -> str:
    """Of the effect."""
    power = "power of n" if claim.ablation == APART else "power of S"
    return {"difference": UNITS[claim.measured(claim.ours)], "ratio": "x", "slope": power}[claim.by]


def expected(claim: Claim) -> str:
    """What the claim says of the effect, in a few signs."""
    if claim.recomputed:
        return "the printed digits"
    room = {"difference": f"± {claim.within}", "ratio": f"within {100 * (claim.within or 0):.0f} %"}
    sign = {"less": "<", "more": ">", "equal": "="}[claim.expect]
    return f"{sign} {claim.against:g}" + (f" {room.get(claim.by, f'± {claim.within}')}" if claim.within else "")
