"""What a few runs can tell: intervals, p values, and the smallest effect that could have been seen.

Few seeds are the rule here: an interval, in tables, figures and claims alike, is Student's, which
is wide for so few. The mean of a score that has bounds lies between them, so the part of an
interval beyond a bound says nothing and is cut
off: what is left holds the mean as often as all of it (Mandelkern 2002, Statistical Science 17). On
a transformed scale (logit, arcsine) the interval is that of another mean: of skewed scores it holds
ours less often with each seed, down to 64 of 100 at 12 seeds (tests/results/test_statistics.py has
Student's next to them).

Pairs of several blocks (texts) scatter around the mean of their own: that an effect is larger on
one text than on another says nothing of how well it is known on these. Each block counts alike,
however many pairs it has.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

# Scipy.stats has the same; its import takes a second
from scipy.special import nctdtrinc, ndtri, stdtr, stdtrit

LEVEL = 0.05  # of a test, and of what lies outside an interval
POWER = 0.8  # the chance to see an effect of the detectable size
# Seeds are added at three looks at most, when each text has so many of them. Where each look is
# held to this level, the chance is LEVEL that any of the three shows an effect which is not there
# (Pocock 1977; simulated with Student's t).
LOOKS = (3, 6, 12)  # seeds on each text
AT_EACH_LOOK = 0.019
Bounds = tuple[float, float]  # the least and the most that a quantity can be
UNBOUNDED: Bounds = (-math.inf, math.inf)
POSITIVE: Bounds = (0.0, math.inf)
# seeds on a text from which an interval is shown; of fewer it is too wide to say anything
FEWEST = 3


def mean_of(values: Sequence[float], blocks: Sequence[str] | None = None) -> float:
    """Average the blocks' means."""
    return fmean(fmean(block) for block in _blocked(values, blocks))


def fewest_on_a_text(texts: Sequence[str]) -> int:
    """Count the pairs of the text that has the fewest. texts: of each pair."""
    return min(Counter(texts).values(), default=0)


def mean_interval(
    values: Sequence[float], blocks: Sequence[str] | None = None, bounds: Bounds = UNBOUNDED
) -> tuple[float, float | None, float | None]:
    """Compute mean and 95 % interval over seeds or pairs, by Student's t; no interval below two
    values.

    bounds: of a single value, where the interval is cut off.
    """
    mean = mean_of(values, blocks)
    if len(values) < 2:
        return mean, None, None
    quantile = stdtrit(_freedom(values, blocks), 1 - LEVEL / 2)
    half = quantile * _error(values, blocks)
    least, most = bounds
    low = max(least, mean - half)
    high = min(most, mean + half)
    return mean, low, high


@dataclass(frozen=True)
class Summary:
    """How a few values are shown everywhere: seeds, or turns of a timing.

    value: their mean; None without values. low, high: its 95 % interval, from `FEWEST` values on.
    points: the values themselves, where they are fewer. What is the same for every seed has
    neither.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    points: list[float] | None = None


def over_seeds(
    values: Sequence[float], blocks: Sequence[str] | None = None, bounds: Bounds = UNBOUNDED
) -> Summary:
    """Summarise the values of a few seeds, or turns. bounds: as for `mean_interval`."""
    if not values:
        return Summary()
    if len(set(values)) == 1:
        # not their mean, which rounding would change
        return Summary(values[0])
    if len(values) < FEWEST:
        mean = sum(values) / len(values)
        return Summary(mean, points=list(values))
    mean, low, high = mean_interval(values, blocks, bounds)
    return Summary(mean, low, high)


def of_difference(bounds: Bounds) -> Bounds:
    """Return the bounds of the difference of two values that have these bounds."""
    least, most = bounds
    return least - most, most - least


def interval_factor(n: int) -> float:
    """Compute half the 95 % interval of n values, in their standard deviations."""
    quantile = stdtrit(n - 1, 1 - LEVEL / 2)
    return float(quantile / n**0.5)


def apart_by_chance(values: Sequence[float]) -> float | None:
    """Compute what two more values such as these differ by at most, in 95 of 100 pairs; None of
    fewer than `FEWEST`.
    """
    n = len(values)
    if n < FEWEST:
        return None
    quantile = float(stdtrit(n - 1, 1 - LEVEL / 2))
    return math.sqrt(2) * scatter(values) * quantile


def widening(n: int, blocks: int) -> float:
    """Compute by how much a percentile interval of means, n pairs drawn anew in each block, is
    narrower than Student's.

    Drawing takes the scatter of n pairs as that of all, and its bounds from a normal distribution:
    of three pairs on one text such an interval holds 67 of a hundred means, not 95.
    """
    freedom = blocks * (n - 1)
    student = stdtrit(freedom, 1 - LEVEL / 2)
    normal = ndtri(1 - LEVEL / 2)
    # a resample scatters around its own mean, by 1 / n less than around that of all
    lost = math.sqrt(n / (n - 1))
    return float(lost * student / normal)


def half_width(low, high):
    """Halve an interval, or each in two columns: the number after ±. None where there is no
    interval.
    """
    if low is None or high is None:
        return None
    return (high - low) / 2


def p_of(
    values: Sequence[float], against: float = 0.0, blocks: Sequence[str] | None = None
) -> float:
    """Compute p of Student's t test, two-sided, that the mean over pairs is `against`; the values
    must scatter.
    """
    distance = abs(mean_of(values, blocks) - against)
    t = distance / _error(values, blocks)
    freedom = _freedom(values, blocks)
    return float(2 * stdtr(freedom, -t))


def over_looks(p: float) -> float:
    """Correct p for the looks that were planned: it is at most `LEVEL` where p is at most
    `AT_EACH_LOOK`.
    """
    return min(1.0, p * LEVEL / AT_EACH_LOOK)


def count_looks(few: int) -> int:
    """Count the planned looks that so many seeds on a text make."""
    return sum(few >= seeds for seeds in LOOKS)


def p_equal(
    values: Sequence[float], against: float, within: float, blocks: Sequence[str] | None = None
) -> float:
    """Compute p of two one-sided t tests (Schuirmann 1987) that the mean lies farther than `within`
    from `against`.
    """
    beyond = abs(mean_of(values, blocks) - against) - within
    t = beyond / _error(values, blocks)
    freedom = _freedom(values, blocks)
    return float(stdtr(freedom, t))


def detectable_effect(
    values: Sequence[float], blocks: Sequence[str] | None = None, level: float = LEVEL
) -> float:
    """Compute the smallest effect that so many pairs, scattered like these, would have shown four
    times out of five.
    """
    n = len(values)
    deviation = _error(values, blocks) * n**0.5
    groups = n - _freedom(values, blocks)
    return smallest_effect(deviation, n, groups, level)


def smallest_effect(scatter: float, n: int, blocks: int = 1, level: float = LEVEL) -> float:
    """Compute the smallest effect that n pairs with this standard deviation show in a t test
    (noncentral t).
    """
    freedom = n - blocks
    # the other tail adds nothing at effects as large as these
    edge = stdtrit(freedom, 1 - level / 2)
    noncentrality = nctdtrinc(freedom, 1 - POWER, edge)
    return float(noncentrality * scatter / n**0.5)


def scatter(values: Sequence[float], blocks: Sequence[str] | None = None) -> float:
    """Compute the standard deviation of pairs around the mean of their block; 0 where they differ
    by rounding alone.
    """
    squares = []
    for block in _blocked(values, blocks):
        mean = fmean(block)
        squares += [(value - mean) ** 2 for value in block]
    variance = sum(squares) / _freedom(values, blocks)
    deviation = math.sqrt(variance)
    rounding = 1e-12 * max(map(abs, values))
    return 0.0 if deviation <= rounding else deviation


def _blocked(values: Sequence[float], blocks: Sequence[str] | None) -> list[list[float]]:
    """Group values by block; in one group where no block has two, for then none says how they
    scatter.
    """
    if blocks is None:
        return [list(values)]
    is_each_alone = len(set(blocks)) == len(values)
    if is_each_alone:
        return [list(values)]
    groups: dict[str, list[float]] = {}
    for value, block in zip(values, blocks, strict=True):
        groups.setdefault(block, []).append(value)
    return list(groups.values())


def _freedom(values: Sequence[float], blocks: Sequence[str] | None) -> int:
    """Count the degrees of freedom: pairs less blocks."""
    return len(values) - len(_blocked(values, blocks))


def _error(values: Sequence[float], blocks: Sequence[str] | None) -> float:
    """Compute the standard error of the mean: the scatter over the root of n, for n pairs in blocks
    of one size.
    """
    sizes = [len(block) for block in _blocked(values, blocks)]
    share = math.sqrt(sum(1 / size for size in sizes))
    return scatter(values, blocks) * share / len(sizes)


def holm(p_values: list[float]) -> list[float]:
    """Correct each p for its family (Holm 1979): the smallest times their number, the next times
    one less, rising.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        factor = len(p_values) - rank
        multiplied = min(1.0, factor * p_values[place])
        # no p is smaller after correction than one that was smaller before
        largest = max(largest, multiplied)
        corrected[place] = largest
    return corrected
