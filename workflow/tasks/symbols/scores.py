"""Scores of sequences of symbols: token accuracy, exact match, correct prefix, and how far a model
goes beyond its training length.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workflow.tasks.symbols.problems._problem import NOT_ASKED

ENOUGH = 90.0  # % of token accuracy, below which a model no longer solves a length


@dataclass(frozen=True)
class Scores:
    """Percentages over a set of sequences. count: how many sequences there were.

    accuracy: of the targets. exact: of the sequences all of whose targets are right. prefix: how
    much of a sequence's targets is right before the first wrong one.
    """

    count: int
    accuracy: float
    exact: float
    prefix: float


def score(said: np.ndarray, targets: np.ndarray) -> Scores:
    """Score what was said, N L, where targets, N L, ask for it."""
    is_asked = targets != NOT_ASKED
    is_right = (said == targets) & is_asked
    is_wrong = (said != targets) & is_asked
    asked = is_asked.sum(1)

    before_first_wrong = is_wrong.cumsum(1) == 0
    prefix = (is_right & before_first_wrong).sum(1) / asked
    return Scores(
        count=len(targets),
        accuracy=100 * float(is_right.sum() / asked.sum()),
        exact=100 * float((~is_wrong).all(1).mean()),
        prefix=100 * float(prefix.mean()),
    )


@dataclass(frozen=True)
class Reach:
    """The binary logarithm of the multiple of the training length at which token accuracy falls
    below `ENOUGH`.

    censored: "below" where it is too low at the training length itself, "above" where it never
    falls as far as was tested, else None.
    """

    doublings: float
    censored: str | None


def find_reach(multiples: Sequence[float], accuracies: Sequence[float]) -> Reach:
    """Interpolate on a logarithmic scale of multiples, which rise from 1, between the last that is
    solved and the next.
    """
    if accuracies[0] < ENOUGH:
        return Reach(0.0, "below")
    for number in range(1, len(multiples)):
        high, low = accuracies[number - 1], accuracies[number]
        if low < ENOUGH:
            near = math.log2(multiples[number - 1])
            far = math.log2(multiples[number])
            share = (high - ENOUGH) / (high - low)
            return Reach(near + share * (far - near), None)
    return Reach(math.log2(multiples[-1]), "above")
