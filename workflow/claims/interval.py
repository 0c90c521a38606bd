"""Make the interval of an effect, with p and the minimum detectable effect.

Student's t over pairs; each corpus is a block with its own mean, and the variance within blocks is
pooled (`workflow.results.statistics`). Ratios are averaged as logarithms.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from workflow.claims.measures import COUNTED, kind_of_pairs
from workflow.claims.samples import Sides
from workflow.claims.schema import Claim
from workflow.results.registry import bounds_of
from workflow.results.statistics import (
    AT_EACH_LOOK,
    FEWEST,
    LEVEL,
    UNBOUNDED,
    Bounds,
    count_looks,
    detectable_effect,
    fewest_on_a_text,
    mean_interval,
    mean_of,
    of_difference,
    over_looks,
    p_equal,
    p_of,
    scatter,
)


@dataclass(frozen=True)
class Interval:
    """The mean effect over n pairs with its 95 % interval; see `workflow.claims.evidence`."""

    effect: float
    low: float
    high: float
    n: int
    p: float
    detectable: float | None
    looks: int | None
    p_none: float | None


def varies(sides: Sides) -> bool:
    """Check whether effects could scatter: some do, or a single one says nothing about it."""
    return len(sides.effects) < 2 or scatter(sides.effects, sides.texts) > 0


def has_interval(sides: Sides) -> bool:
    """Check whether effects vary by chance, and each corpus has enough of them for an interval."""
    is_counted = sides.claim.measured(sides.claim.ours) in COUNTED
    has_enough = fewest_on_a_text(sides.texts) >= FEWEST
    return has_enough and not is_counted and varies(sides)


def mean_effect(sides: Sides) -> float:
    """Average effects over pairs."""
    to_axis, from_axis = _axis_of(sides.claim)
    values = [to_axis(effect) for effect in sides.effects]
    return from_axis(mean_of(values, sides.texts))


def make_interval(sides: Sides) -> Interval:
    """Compute the interval of effects that vary.

    Seeds may be added later, rounds of a timing are not: p over seeds is corrected for the planned
    interim analyses (Pocock 1977).
    """
    claim = sides.claim
    texts = sides.texts
    to_axis, from_axis = _axis_of(claim)
    values = [to_axis(effect) for effect in sides.effects]
    null = to_axis(claim.against)
    mean, low, high = mean_interval(values, texts, _bounds(claim))
    if claim.within is None:
        p = p_of(values, null, texts)
    else:
        p = p_equal(values, null, claim.tolerance, texts)
    p_none = None
    if claim.negligible:
        p_none = p_equal(values, null, claim.negligible, texts)
    looks = None
    level = LEVEL
    if kind_of_pairs(claim.measured(claim.ours)) == "seed":
        looks = count_looks(fewest_on_a_text(texts))
        level = AT_EACH_LOOK
        p = over_looks(p)
        p_none = None if p_none is None else over_looks(p_none)
    detectable = None
    if claim.within is None:  # an equality has no detectable effect
        detectable = from_axis(detectable_effect(values, texts, level))
    return Interval(
        effect=from_axis(mean),
        low=from_axis(low),
        high=from_axis(high),
        n=len(values),
        p=p,
        detectable=detectable,
        looks=looks,
        p_none=p_none,
    )


def _axis_of(claim: Claim) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return how an effect is placed on the axis where it is averaged, and how it comes back."""
    if claim.by == "ratio":
        return math.log, math.exp
    return float, float


def _bounds(claim: Claim) -> Bounds:
    """Return the bounds of the effect; an exponent and the logarithm of a ratio have none."""
    if claim.by != "difference":
        return UNBOUNDED
    bounds = bounds_of(claim.measured(claim.ours))
    return bounds if claim.than is None else of_difference(bounds)
