"""Forecast an effect at another model size with three simple predictors, and back-test each.

A ladder is a list of rungs, smallest models first (`workflow.claims.evidence.Rung`). Predictors
work on one corpus at a time.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from workflow.claims.evidence import LedgerLine, Rung
from workflow.results.statistics import FEWEST as SEEDS
from workflow.results.statistics import LEVEL, widening
from workflow.settings.scales import strength

DRAWS = 1000  # resamples of the seeds for an interval
FEWEST = 2  # sizes needed to fit a line


@dataclass(frozen=True)
class Forecast:
    """A predicted effect with its 95 % interval."""

    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
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
        outcomes = [math.comb(self.ladders, correct) for correct in as_many]
        return sum(outcomes) / 2**self.ladders


@dataclass(frozen=True)
class Size:
    """One model size on one corpus.

    n: parameters of both sides. scores: (2, seeds or resamples), of both sides. most: the upper
    bound of the score; None without one.
    """

    n: tuple[float, float]
    scores: np.ndarray
    most: float | None = None

    def mean(self) -> "Size":
        """Average over seeds; scores: (2, 1)."""
        return replace(self, scores=self.scores.mean(1, keepdims=True))

    def resampled(self, generator: np.random.Generator) -> "Size":
        """Resample pairs of seeds and average each resample; scores: (2, DRAWS)."""
        seeds = self.scores.shape[1]
        drawn = generator.integers(seeds, size=(DRAWS, seeds))
        resampled = self.scores[:, drawn]  # (2, DRAWS, seeds)
        return replace(self, scores=resampled.mean(2))


def largest(sizes: Sequence[Size], n: tuple[float, float]) -> np.ndarray:
    """Predict the effect of the largest size."""
    ours, than = sizes[-1].scores
    return ours - than


def line(sizes: Sequence[Size], n: tuple[float, float]) -> np.ndarray:
    """Fit a line to the effects in log N, where N is the geometric mean of both sides."""
    places = []
    effects = []
    for size in sizes:
        ours, than = size.scores
        places.append(np.log(size.n).mean())
        effects.append(ours - than)
    slope, start = np.polyfit(places, effects, 1)
    place = np.log(n).mean()
    return start + slope * place


def power_law(sizes: Sequence[Size], n: tuple[float, float]) -> np.ndarray:
    """Fit a power law c N^a to the scores of each side, and predict the difference.

    With an upper bound of the score, the power law is fitted to the distance from the bound.
    """
    most = sizes[0].most
    predicted = []
    for side in (0, 1):
        places = []
        fitted = []
        for size in sizes:
            values = size.scores[side]
            places.append(math.log(size.n[side]))
            fitted.append(values if most is None else most - values)
        logarithms = np.log(fitted)
        exponent, start = np.polyfit(places, logarithms, 1)
        place = math.log(n[side])
        predicted.append(np.exp(start + exponent * place))
    ours, than = predicted
    if most is None:
        return ours - than
    # a distance from the bound is better the smaller it is
    return than - ours


PREDICTORS: dict[str, Callable[[Sequence[Size], tuple[float, float]], np.ndarray]] = {
    "effect of the largest size": largest,
    "linear in log N": line,
    "power law per side": power_law,
}


def predict(predictor: str, ladders: Sequence[Sequence[Size]], n: tuple[float, float]) -> Forecast:
    """Predict the mean effect over corpora for sides of n parameters. ladders: one per corpus.

    Pairs of seeds are resampled within each size and averaged over corpora. The percentiles are
    widened to match Student's interval for so few pairs (`widening`).
    """
    rule = PREDICTORS[predictor]
    generator = np.random.default_rng(0)
    means = []
    drawn = []
    seeds = []
    for sizes in ladders:
        of_means = rule([size.mean() for size in sizes], n)
        means.append(of_means[0])
        resampled = [size.resampled(generator) for size in sizes]
        drawn.append(rule(resampled, n))
        seeds += [size.scores.shape[1] for size in sizes]
    effect = float(np.mean(means))
    over_corpora = np.mean(drawn, axis=0)  # a mean effect for each resample
    ends = (LEVEL / 2, 1 - LEVEL / 2)
    percentiles = np.quantile(over_corpora, ends)
    wide = widening(min(seeds), len(ladders))
    low, high = effect + wide * (percentiles - effect)
    return Forecast(effect, float(low), float(high))


def by_text(rungs: Iterable[Rung]) -> dict[str, list[Size]]:
    """Split a ladder by corpus; a size with fewer than three pairs on a corpus is left out."""
    ladders: dict[str, list[Size]] = {}
    for rung in rungs:
        n = (rung.parameters.ours, rung.parameters.than)
        pairs_on: dict[str, list[tuple[float, float]]] = {}
        for pair in rung.pairs:
            scores = (pair.ours, pair.than)
            pairs_on.setdefault(pair.text, []).append(scores)
        for text, pairs in pairs_on.items():
            if len(pairs) < SEEDS:
                continue
            scores = np.array(pairs, float).T.copy()
            size = Size(n, scores, rung.most)
            ladders.setdefault(text, []).append(size)
    return ladders


def forecast(rungs: Iterable[Rung], n: tuple[float, float]) -> dict[str, Forecast]:
    """Forecast the mean effect over corpora with each predictor; empty for a single size."""
    ladders = []
    for sizes in by_text(rungs).values():
        if len(sizes) >= FEWEST:
            ladders.append(sizes)
    if not ladders:
        return {}
    return {name: predict(name, ladders, n) for name in PREDICTORS}


def score(ladders: Iterable[Iterable[Rung]]) -> list[Score]:
    """Back-test each predictor on all ladders, corpus by corpus.

    Each predicts the largest size from the others.
    """
    cases = []
    for rungs in ladders:
        for sizes in by_text(rungs).values():
            if len(sizes) > FEWEST:
                cases.append(sizes)
    return [_score_predictor(name, cases) for name in PREDICTORS]


def _score_predictor(name: str, cases: list[list[Size]]) -> Score:
    sign = 0
    covered = 0
    for *smaller, last in cases:
        ours, than = last.scores.mean(1)
        effect = float(ours - than)
        predicted = predict(name, [smaller], last.n)
        is_positive = effect > 0
        sign += is_positive == (predicted.effect > 0)
        covered += predicted.low <= effect <= predicted.high
    return Score(name, len(cases), sign, covered)


# --- from a smaller scale to a larger one --------------------------------------------------------


@dataclass(frozen=True)
class Calls:
    """How the results of a smaller scale predict those of a larger one.

    claims: number that both tested. same_way: number with the same sign. covered: number of effects
    of the larger scale within the 95 % interval of the smaller one. turned: names of the claims
    whose sign differs.
    """

    smaller: str
    larger: str
    claims: int
    same_way: int
    covered: int
    turned: list[str]


def back_test(lines: Iterable[LedgerLine]) -> list[Calls]:
    """Compare each set of results with every set of a larger scale."""
    scales = {}
    for line in lines:
        for each in line.sets:
            scales[each.set] = each.scale
    rising = []
    for smaller, larger in permutations(scales, 2):
        if strength(scales[smaller]) < strength(scales[larger]):
            rising.append((smaller, larger))
    rising.sort(key=lambda pair: [strength(scales[name]) for name in pair])
    found = []
    for smaller, larger in rising:
        calls = _compare(lines, smaller, larger)
        if calls.claims:
            found.append(calls)
    return found


def _compare(lines: Iterable[LedgerLine], smaller: str, larger: str) -> Calls:
    turned = []
    claims = 0
    covered = 0
    for line in lines:
        tested = {each.set: each for each in line.sets if each.p is not None}
        if not {smaller, larger} <= tested.keys():
            continue
        claims += 1
        ours = tested[smaller]
        effect = tested[larger].effect
        if (ours.effect > line.null) != (effect > line.null):
            turned.append(line.name)
        covered += ours.low <= effect <= ours.high
    return Calls(smaller, larger, claims, claims - len(turned), covered, turned)
