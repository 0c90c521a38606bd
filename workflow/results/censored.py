"""Censored scores: only a bound is known, because a run was not tested far enough.

A record says in a fact on which side the score is censored: `above` where it is at least the
recorded value, `below` where it is at most that. `Quantity.censored_by` names the fact.
"""

from collections.abc import Iterable

import pandas as pd

from workflow.results.registry import REGISTRY
from workflow.results.runs_table import finished

AT_LEAST, AT_MOST = "≥", "≤"
NO_BOUND = "≈"  # some of what a number is made of is censored on each side
SIGNS = {"above": AT_LEAST, "below": AT_MOST}
OPPOSITE = {AT_LEAST: AT_MOST, AT_MOST: AT_LEAST, NO_BOUND: NO_BOUND}


def bound_of(runs: pd.DataFrame, quantity: str) -> str:
    """Return ≥ or ≤ where the score of some run is censored; ≈ where some are on each side."""
    fact = REGISTRY[quantity].censored_by
    if fact is None:
        return ""
    sides = finished(runs, quantity)[fact].dropna()
    return merge_bounds(SIGNS[side] for side in sides)


def bound_of_difference(ours: str, theirs: str) -> str:
    """Return ≥ or ≤ where bounds make a difference a bound; ≈ where it is neither."""
    return merge_bounds([ours, opposite(theirs)])


def merge_bounds(bounds: Iterable[str]) -> str:
    """Merge the signs of several bounds: ≈ where they differ."""
    signs = set().union(*bounds)
    return NO_BOUND if len(signs) > 1 else "".join(signs)


def opposite(bound: str) -> str:
    """Return the bound of the negative value."""
    return OPPOSITE.get(bound, "")
