"""What a few runs can tell: intervals, p values, and the smallest effect that could have been seen.

Few seeds are the rule here: an interval, in tables, figures and claims alike, is Student's, which
is wide for so few. The mean of a score that has bounds lies between them, so the part of an
interval beyond a bound says nothing and is cut off: what is left holds the mean as often as all of
it (Mandelkern 2002, Statistical Science 17). On a transformed scale (logit, arcsine) the interval
is that of another mean: of skewed scores it holds ours less often with each seed, down to 64 of 100
at 12 seeds (tests/results/test_statistics.py has Student's next to them).

Pairs of several blocks (texts) scatter around the mean of their own: that an effect is larger on
one text than on another says nothing of how well it is known on these. Each block counts alike,
however many pairs it has.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
Values = Sequence[float]
Blocks = Sequence[str] | None  # the corpus of each value; None: all are of one
Bounds = tuple[float, float]  # the least and the most that a quantity can be
UNBOUNDED: Bounds = (-math.inf, math.inf)
POSITIVE: Bounds = (0.0, math.inf)
# seeds on a text from which an interval is shown; of fewer it is too wide to say anything
FEWEST = 3


def mean_of(values: Values, blocks: Blocks = None) -> float:
    """Average the blocks' means."""
    means = []
    for block in _blocked(values, blocks):
        means.append(fmean(block))
    return fmean(means)


def fewest_on_a_text(texts: Sequence[str]) -> int:
    """Count the pairs of the text that has the fewest. texts: of each pair."""
    return min(Counter(texts).values(), default=0)


def mean_interval(
    values: Values, blocks: Blocks = None, bounds: Bounds = UNBOUNDED
) -> tuple[float, float | None, float | None]:
    """Compute mean and 95 % interval over seeds or pairs, by Student's t.

    There is no interval below two values. bounds: of a single value, where the interval is cut off.
    """
    mean = mean_of(values, blocks)
    if len(values) < 2:
        return mean, None, None
    freedom = _freedom(values, blocks)
    quantile = stdtrit(freedom, 1 - LEVEL / 2)
    half = quantile * _error(values, blocks)
    least, most = bounds
    low = max(least, mean - half)
    high = min(most, mean + half)
    return mean, low, high


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """Compute the 95 % interval of a share of n samples, both in % (Wilson 1927).

    It is of one trained model: how much other seeds differ is not in it, so it compares no methods.
    """
    p = share / 100
    z = float(ndtri(1 - LEVEL / 2))
    spread = z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    centre = p + z**2 / (2 * n)
    scale = 100 / (1 + z**2 / n)
    # at shares of 0 and 100 an end is the share itself, but for rounding
    low = min(share, max(0.0, scale * (centre - spread)))
    high = max(share, min(100.0, scale * (centre + spread)))
    return low, high


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


def over_seeds(values: Values, blocks: Blocks = None, bounds: Bounds = UNBOUNDED) -> Summary:
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


def apart_by_chance(values: Values) -> float | None:
    """Compute what two more such values differ by at most, in 95 of 100 pairs.

    None of fewer than `FEWEST`.
    """
    n = len(values)
    if n < FEWEST:
        return None
    quantile = float(stdtrit(n - 1, 1 - LEVEL / 2))
    # the difference of two values has twice the variance of one
    deviation = math.sqrt(2) * scatter(values)
    return deviation * quantile


def widening(n: int, blocks: int) -> float:
    """Compute by how much a percentile interval of resampled means is narrower than Student's.

    Drawing n pairs anew in each block takes the scatter of n pairs as that of all, and its bounds
    from a normal distribution: of three pairs on one corpus such an interval holds 67 of a hundred
    means, not 95.
    """
    freedom = blocks * (n - 1)
    upper = 1 - LEVEL / 2
    student = stdtrit(freedom, upper)
    normal = ndtri(upper)
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


def p_of(values: Values, against: float = 0.0, blocks: Blocks = None) -> float:
    """Compute p of Student's t test, two-sided, that the mean over pairs is `against`.

    The values must scatter.
    """
    distance = abs(mean_of(values, blocks) - against)
    t = distance / _error(values, blocks)
    freedom = _freedom(values, blocks)
    one_sided = stdtr(freedom, -t)
    return float(2 * one_sided)


def over_looks(p: float) -> float:
    """Correct p for the looks that were planned: it is at most `LEVEL` where p is at most
    `AT_EACH_LOOK`.
    """
    return min(1.0, p * LEVEL / AT_EACH_LOOK)


def count_looks(few: int) -> int:
    """Count the planned looks that so many seeds on a text make."""
    return sum(few >= seeds for seeds in LOOKS)


def p_equal(values: Values, against: float, within: float, blocks: Blocks = None) -> float:
    """Compute p of two one-sided t tests (Schuirmann 1987).

    They test that the mean is farther than `within` from `against`.
    """
    distance = abs(mean_of(values, blocks) - against)
    beyond = distance - within
    t = beyond / _error(values, blocks)
    freedom = _freedom(values, blocks)
    return float(stdtr(freedom, t))


def detectable_effect(values: Values, blocks: Blocks = None, level: float = LEVEL) -> float:
    """Compute the smallest effect that so many pairs, scattered like these, show with power 0.8."""
    n = len(values)
    error = _error(values, blocks)
    deviation = error * n**0.5
    groups = n - _freedom(values, blocks)
    return smallest_effect(deviation, n, groups, level)


def smallest_effect(scatter: float, n: int, blocks: int = 1, level: float = LEVEL) -> float:
    """Compute the smallest effect that n pairs with this deviation show in a t test.

    By the noncentral t distribution.
    """
    freedom = n - blocks
    # the other tail adds nothing at effects as large as these
    edge = stdtrit(freedom, 1 - level / 2)
    noncentrality = nctdtrinc(freedom, 1 - POWER, edge)
    return float(noncentrality * scatter / n**0.5)


def scatter(values: Values, blocks: Blocks = None) -> float:
    """Compute the standard deviation of pairs around the mean of their block.

    0 where they differ by rounding alone.
    """
    squares = []
    for block in _blocked(values, blocks):
        mean = fmean(block)
        for value in block:
            squares.append((value - mean) ** 2)
    variance = sum(squares) / _freedom(values, blocks)
    deviation = math.sqrt(variance)
    largest = max(abs(value) for value in values)
    rounding = 1e-12 * largest
    return 0.0 if deviation <= rounding else deviation


def _blocked(values: Values, blocks: Blocks) -> list[list[float]]:
    """Group values by block.

    They are one group where no block has two values, for then none says how they scatter.
    """
    everything = [list(values)]
    if blocks is None:
        return everything
    is_each_alone = len(set(blocks)) == len(values)
    if is_each_alone:
        return everything
    groups: dict[str, list[float]] = {}
    for value, block in zip(values, blocks, strict=True):
        group = groups.setdefault(block, [])
        group.append(value)
    return list(groups.values())


def _freedom(values: Values, blocks: Blocks) -> int:
    """Count the degrees of freedom: pairs less blocks."""
    groups = _blocked(values, blocks)
    return len(values) - len(groups)


def _error(values: Values, blocks: Blocks) -> float:
    """Compute the standard error of the mean.

    It is the scatter over the root of n, for n pairs in blocks of one size.
    """
    groups = _blocked(values, blocks)
    of_blocks = []
    for block in groups:
        of_blocks.append(1 / len(block))
    share = math.sqrt(sum(of_blocks))
    return scatter(values, blocks) * share / len(groups)


def holm(p_values: list[float]) -> list[float]:
    """Correct each p for its family (Holm 1979).

    The smallest is multiplied by their number, the next by one less, and so on, rising.
    """
    n = len(p_values)
    order = sorted(range(n), key=p_values.__getitem__)
    corrected = [1.0] * n
    largest = 0.0
    for rank, place in enumerate(order):
        factor = n - rank
        multiplied = min(1.0, factor * p_values[place])
        # no p is smaller after correction than one that was smaller before
        largest = max(largest, multiplied)
        corrected[place] = largest
    return corrected


@dataclass(frozen=True)
class Unpaired:
    """A difference of two means over seeds, whose standard deviation is pooled over all groups.

    low, high: its 95 % interval. p: two-sided. All three None where no group has two seeds.
    """

    mean: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


def unpaired_differences(groups: Mapping[str, Values], baseline: str) -> dict[str, Unpaired]:
    """Subtract the baseline's mean from that of each other group, by Student's t.

    groups: a value for each seed; those without any are left out. The standard deviation is pooled
    over all groups, the baseline's included: each adds its seeds less one to the degrees of
    freedom.
    """
    if not groups[baseline]:
        return {}
    differences = {}
    for name, group in groups.items():
        if group and name != baseline:
            found = pooled_difference(group, groups[baseline], groups.values())
            differences[name] = average_unpaired([found])
    return differences


@dataclass(frozen=True)
class Pooled:
    """A difference of two means over seeds, before it is tested.

    error: its standard error, with so many degrees of freedom; 0 where no group has two seeds.
    """

    mean: float
    error: float
    freedom: int


def pooled_difference(ours: Values, theirs: Values, groups: Iterable[Values]) -> Pooled:
    """Subtract the mean of one group of seeds from that of another.

    groups: all whose standard deviation is pooled, these two included: each adds its seeds less one
    to the degrees of freedom.
    """
    values: list[float] = []
    blocks: list[str] = []
    for number, group in enumerate(groups):
        values += group
        blocks += [str(number)] * len(group)
    freedom = len(values) - len(set(blocks))
    # with one seed in each group nothing says how seeds scatter
    deviation = scatter(values, blocks) if freedom else 0.0
    error = deviation * math.sqrt(1 / len(ours) + 1 / len(theirs))
    return Pooled(fmean(ours) - fmean(theirs), error, freedom)


def average_unpaired(differences: Sequence[Pooled]) -> Unpaired:
    """Average independent differences, of one corpus each, which count alike."""
    number = len(differences)
    mean = fmean(each.mean for each in differences)
    freedom = sum(each.freedom for each in differences)
    if not all(each.freedom for each in differences):
        return Unpaired(mean)
    error = math.sqrt(sum(each.error**2 for each in differences)) / number
    if not error:
        # seeds agree exactly: there is no t
        return Unpaired(mean, mean, mean, float(mean == 0))
    half = error * float(stdtrit(freedom, 1 - LEVEL / 2))
    one_sided = float(stdtr(freedom, -abs(mean) / error))
    return Unpaired(mean, mean - half, mean + half, 2 * one_sided)
