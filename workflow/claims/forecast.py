"""Forecast an effect at another model size with three simple predictors, and back-test each of
them.

A ladder is a list of rungs, smallest models first. A rung has the parameters N of both sides and
the scores of its pairs, one per corpus and seed (`workflow.claims.robustness`).
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from workflow.results.statistics import FEWEST as SEEDS
from workflow.results.statistics import LEVEL, widening

DRAWS = 1000  # resamples of the seeds for an interval
FEWEST = 2  # rungs needed to fit a line
SIDES = ("ours", "than")


class Forecast(NamedTuple):
    """A predicted effect with its 95 % interval."""

    effect: float
    low: float
    high: float


class Score(NamedTuple):
    """How often a predictor, given all sizes but the largest, was right about the largest.

    ladders: number of tests, one per ladder and corpus. sign: how often the sign was right.
    covered: how often the interval contained the effect.
    """

    predictor: str
    ladders: int
    sign: int
    covered: int

    @property
    def by_coin(self) -> float:
        """Compute the binomial p of as many correct signs, or more, by chance."""
        as_many = range(self.sign, self.ladders + 1)
        return sum(math.comb(self.ladders, called) for called in as_many) / 2**self.ladders


class Rung(NamedTuple):
    """One model size on one corpus. n: parameters of both sides. scores: (2, seeds or resamples),
    of both sides.

    most: the upper bound of the score; None if there is none.
    """

    n: tuple[float, float]
    scores: np.ndarray
    most: float | None = None


def largest(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Predict the effect of the largest size."""
    mine, theirs = rungs[-1].scores
    return mine - theirs


def line(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Fit a line to the effects in log N, where N is the geometric mean of both sides."""
    places = [np.log(rung.n).mean() for rung in rungs]
    slope, start = np.polyfit(places, [rung.scores[0] - rung.scores[1] for rung in rungs], 1)
    return start + slope * np.log(n).mean()


def power_law(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Fit a power law c N^a to the scores of each side, and predict the difference.

    With an upper bound of the score, the power law is fitted to the distance from the bound.
    """
    sides, most = [], rungs[0].most
    for side in range(2):
        scores = [rung.scores[side] for rung in rungs]
        lost = scores if most is None else [most - score for score in scores]
        exponent, start = np.polyfit([math.log(rung.n[side]) for rung in rungs], np.log(lost), 1)
        sides.append(np.exp(start + exponent * math.log(n[side])))
    return sides[0] - sides[1] if most is None else sides[1] - sides[0]


PREDICTORS: dict[str, Callable[[Sequence[Rung], tuple[float, float]], np.ndarray]] = {
    "effect of the largest size": largest,
    "linear in log N": line,
    "power law per side": power_law,
}


def predict(predictor: str, ladders: Sequence[Sequence[Rung]], n: tuple[float, float]) -> Forecast:
    """Predict the mean effect over corpora for sides of n parameters. ladders: one per corpus.

    Pairs of seeds are resampled within each size and averaged over corpora. The percentiles are
    widened to match Student's interval for so few pairs (`widening`).
    """
    rule, generator = PREDICTORS[predictor], np.random.default_rng(0)
    effect = float(np.mean([rule([_mean(rung) for rung in rungs], n)[0] for rungs in ladders]))
    drawn = np.mean([rule([_draw(rung, generator) for rung in rungs], n) for rungs in ladders], 0)
    wide = widening(min(rung.scores.shape[1] for rungs in ladders for rung in rungs), len(ladders))
    low, high = effect + wide * (np.quantile(drawn, (LEVEL / 2, 1 - LEVEL / 2)) - effect)
    return Forecast(effect, float(low), float(high))


def _mean(rung: Rung) -> Rung:
    return rung._replace(scores=rung.scores.mean(1, keepdims=True))


def _draw(rung: Rung, generator: np.random.Generator) -> Rung:
    seeds = rung.scores.shape[1]
    return rung._replace(
        scores=rung.scores[:, generator.integers(seeds, size=(DRAWS, seeds))].mean(2)
    )


def by_text(sizes: list[dict]) -> dict[str, list[Rung]]:
    """Split a ladder by corpus; a size with fewer than three pairs on a corpus is left out."""
    ladders: dict[str, list[Rung]] = {}
    for rung in sizes:
        for text in dict.fromkeys(pair["text"] for pair in rung["pairs"]):
            pairs = [pair for pair in rung["pairs"] if pair["text"] == text]
            if len(pairs) < SEEDS:
                continue
            scores = np.array([[pair[side] for pair in pairs] for side in SIDES], float)
            n = tuple(rung["parameters"][side] for side in SIDES)
            ladders.setdefault(text, []).append(Rung(n, scores, rung.get("most")))
    return ladders


def forecast(sizes: list[dict], n: tuple[float, float]) -> dict[str, Forecast]:
    """Forecast the mean effect over corpora with each predictor; empty for a single size."""
    ladders = [rungs for rungs in by_text(sizes).values() if len(rungs) >= FEWEST]
    return {name: predict(name, ladders, n) for name in PREDICTORS} if ladders else {}


def score(ladders: list[list[dict]]) -> list[Score]:
    """Back-test each predictor on all ladders, corpus by corpus: predict the largest size from the
    others.
    """
    cases = [rungs for sizes in ladders for rungs in by_text(sizes).values() if len(rungs) > FEWEST]
    scores = []
    for name in PREDICTORS:
        sign = covered = 0
        for rungs in cases:
            *smaller, last = rungs
            seen, told = float(np.subtract(*last.scores.mean(1))), predict(name, [smaller], last.n)
            sign += (seen > 0) == (told.effect > 0)
            covered += told.low <= seen <= told.high
        scores.append(Score(name, len(cases), sign, covered))
    return scores
