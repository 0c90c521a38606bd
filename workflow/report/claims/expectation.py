"""What a claim says of the effect: in words, as a test of one number, and as a stretch of an axis."""

import math

from workflow.report.claims.measures import LAYERS, UNITS, title_of_measure
from workflow.report.claims.schema import Claim


def is_as_claimed(claim: Claim, effect: float) -> bool:
    """Whether the effect lies where the paper says."""
    if claim.expect == "equal":
        distance = math.log(effect / claim.against) if claim.by == "ratio" else effect - claim.against
        return abs(distance) <= claim.room
    return effect < claim.against if claim.expect == "less" else effect > claim.against


def unit_of(claim: Claim) -> str:
    """Of the effect."""
    power = "power of n" if claim.ablation == LAYERS else "power of S"
    return {"difference": UNITS[claim.measured(claim.ours)], "ratio": "x", "slope": power}[claim.by]


def describe_measure(claim: Claim) -> str:
    """What is compared: `difference of dev bpc`; of two measures, `ratio of A to B`."""
    titles = list(dict.fromkeys(title_of_measure(claim.measured(side)) for side in claim.sides))
    if claim.by == "slope":
        axis = "n" if claim.ablation == LAYERS else "S"
        return f"{'difference of the ' if claim.than else ''}power of {axis} by which it grows: {titles[0]}"
    return f"{claim.by} of {' to '.join(titles)}" if claim.than else "".join(titles)


def describe_expectation(claim: Claim) -> str:
    """What the claim says of the effect, as `< 0` or `= 1 within 5 %`."""
    if claim.recomputed:
        return "the printed digits"
    room = f"within {100 * (claim.within or 0):g} %" if claim.by == "ratio" else f"± {claim.within}"
    sign = {"less": "<", "more": ">", "equal": "="}[claim.expect]
    return f"{sign} {claim.against:g}" + (f" {room}" if claim.within else "")


def claimed_range(claim: Claim) -> tuple[float | None, float | None]:
    """From where to where the effect is as claimed; None is open, as all is of a claim about formulas."""
    if claim.expect == "less":
        return None, claim.against
    if claim.expect == "more":
        return claim.against, None
    if claim.expect is None:
        return None, None
    if claim.by == "ratio":
        return claim.against * math.exp(-claim.room), claim.against * math.exp(claim.room)
    return claim.against - claim.room, claim.against + claim.room
