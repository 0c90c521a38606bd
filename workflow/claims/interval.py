"""Make the interval of an effect, with p and the minimum detectable effect.

Student's t over pairs; each corpus is a block with its own mean, and the variance within blocks is
pooled (`workflow.results.statistics`). Ratios are averaged as logarithms.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from workflow.claims.measures import kind_of_pairs
from workflow.claims.schema import Claim
from workflow.results.registry import bounds_of
from workflow.results.statistics import (
    AT_EACH_LOOK,
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


def mean_effect(claim: Claim, effects: list[float], texts: list[str]) -> float:
    """Average effects over pairs. texts: the corpus of each pair."""
    to_axis, from_axis = _axis_of(claim)
    return from_axis(mean_of([to_axis(effect) for effect in effects], texts))


def make_interval(claim: Claim, effects: list[float], texts: list[str]) -> Interval:
    """Compute the interval of effects that vary. texts: the corpus of each pair.

    Seeds may be added later, rounds of a timing are not: p over seeds is corrected for the planned
    interim analyses (Pocock 1977).
    """
    to_axis, from_axis = _axis_of(claim)
    values = [to_axis(effect) for effect in effects]
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
    return (math.log, math.exp) if claim.by == "ratio" else (float, float)


def _bounds(claim: Claim) -> Bounds:
    """Return the bounds of the effect; an exponent and the logarithm of a ratio have none."""
    if claim.by != "difference":
        return UNBOUNDED
    bounds = bounds_of(claim.measured(claim.ours))
    return bounds if claim.than is None else of_difference(bounds)
