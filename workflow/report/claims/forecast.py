"""What an effect would be in nets of another size, by three plain predictors, and how often each was right.

A ladder is a list of rungs, from the smallest nets on: each has the parameters N of both sides and the scores of its
pairs, one for each text and seed (`workflow.report.claims.beside`).
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from workflow.results.statistics import FEWEST as SEEDS
from workflow.results.statistics import LEVEL, widening

DRAWS = 1000  # of seeds, for an interval
FEWEST = 2  # rungs that a line needs
SIDES = ("ours", "than")


class Forecast(NamedTuple):
    """An effect that was predicted, with its 95 % interval."""

    effect: float
    low: float
    high: float


class Score(NamedTuple):
    """How often a predictor, given all sizes but the largest, was right about that: of so many ladders on a text.

    sign: how often the effect was on the predicted side. covered: how often it lay in the interval.
    """

    predictor: str
    ladders: int
    sign: int
    covered: int

    @property
    def by_coin(self) -> float:
        """How likely a coin calls as many signs, or more."""
        as_many = range(self.sign, self.ladders + 1)
        return sum(math.comb(self.ladders, called) for called in as_many) / 2**self.ladders


class Rung(NamedTuple):
    """One size on one text. n: parameters of both sides. scores: 2 D, of both sides for each seed, or drawn mean.

    most: the best possible score; None of one that may fall without end.
    """

    n: tuple[float, float]
    scores: np.ndarray
    most: float | None = None


def largest(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Predict the effect at the largest size."""
    mine, theirs = rungs[-1].scores
    return mine - theirs


def line(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Predict by a straight line through the effects in log N, N the geometric mean of both sides."""
    places = [np.log(rung.n).mean() for rung in rungs]
    slope, start = np.polyfit(places, [rung.scores[0] - rung.scores[1] for rung in rungs], 1)
    return start + slope * np.log(n).mean()


def power_law(rungs: Sequence[Rung], n: tuple[float, float]) -> np.ndarray:
    """Predict each side by its own c N^a through its scores, and the effect by their difference.

    Where there is a best possible score, the law is that of what is missing to it.
    """
    sides, most = [], rungs[0].most
    for side in range(2):
        scores = [rung.scores[side] for rung in rungs]
        lost = scores if most is None else [most - score for score in scores]
        exponent, start = np.polyfit([math.log(rung.n[side]) for rung in rungs], np.log(lost), 1)
        sides.append(np.exp(start + exponent * math.log(n[side])))
    return sides[0] - sides[1] if most is None else sides[1] - sides[0]


PREDICTORS: dict[str, Callable[[Sequence[Rung], tuple[float, float]], np.ndarray]] = {
    "as at the largest size": largest,
    "a line in log N": line,
    "a power law for each side": power_law,
}


def predict(predictor: str, ladders: Sequence[Sequence[Rung]], n: tuple[float, float]) -> Forecast:
    """Predict the mean effect over texts for sides of n parameters. ladders: of each text.

    Pairs of seeds are drawn anew within each size, the texts averaged in each draw, and the percentiles moved as far
    from the effect as Student's interval of so few pairs lies (`widening`).
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
    return rung._replace(scores=rung.scores[:, generator.integers(seeds, size=(DRAWS, seeds))].mean(2))


def by_text(sizes: list[dict]) -> dict[str, list[Rung]]:
    """Part a ladder into one for each text; a size with fewer than three pairs on a text is left out."""
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
    """Forecast by each predictor the mean effect over texts; none from a single size."""
    ladders = [rungs for rungs in by_text(sizes).values() if len(rungs) >= FEWEST]
    return {name: predict(name, ladders, n) for name in PREDICTORS} if ladders else {}


def score(ladders: list[list[dict]]) -> list[Score]:
    """Back-test each predictor on all ladders, text by text: what it makes of all sizes but the largest."""
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
