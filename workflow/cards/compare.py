"""Compare a few seeds of a variant with all seeds of the baseline.

Three seeds alone show nothing, so the variance of seeds is pooled over all known variants of a
part. But variants scatter differently, so the pooled variance does not replace that of the
variant's own seeds: both are averaged by their degrees of freedom, and the pooled one counts as
four (a moderated t test, Smyth 2004). Two rules guard the rate of false alarms:

1. The pooled deviation is never taken for smaller than the baseline's own. Where no variant is
   known, it is the baseline's own.
2. A variant that scatters significantly more than the others, as one that trains with some seeds
   alone, is not pooled. If it is the card's, its own seeds count alone (Welch 1947).

docs/decisions/0037-cards.md has the rates.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from scipy.special import fdtrc, nctdtrinc, stdtr, stdtrit

from workflow.results.statistics import LEVEL, POWER, holm, scatter
from workflow.tasks.quantities import Direction

PRIOR = 4  # degrees of freedom that the pooled variance counts as
OUTLIER = 0.01  # level of the F test by which a variant scatters more than the others
MOST_SEEDS = 100  # that a card asks for
EXACT = 1e-12  # relative difference of two means that is rounding
Verdict = Literal["better", "worse", "no difference", "inconclusive"]
Scores = Sequence[float]


@dataclass(frozen=True)
class Scatter:
    """The standard deviation of seeds, and its degrees of freedom.

    own: whether it is that of the variant's own seeds alone, which scatter more than others.
    """

    deviation: float
    freedom: float
    own: bool = False


@dataclass(frozen=True)
class Comparison:
    """The difference of a variant from the baseline on one part.

    difference: of the means, in the score's unit. low, high: its 95 % interval, not corrected. p:
    two-sided; holm: corrected over the parts of the card. p_equal: that the difference is beyond
    the margin; holm_equal: the same corrected. scatter: of the variant's seeds. detectable: the
    smallest difference that so many seeds show with power 0.8 at the corrected level. seeds: how
    many of the variant, more than there are, would settle the part with power 0.8: a difference as
    large as the margin is significant, and where there is none, equivalence is shown; None where no
    number of them would.
    """

    difference: float
    low: float
    high: float
    p: float
    p_equal: float
    scatter: Scatter
    detectable: float
    seeds: int | None
    verdict: Verdict = "inconclusive"
    holm: float = 1.0
    holm_equal: float = 1.0


@dataclass(frozen=True)
class Compared:
    """What is compared on a part.

    known: the scores of every other known variant, each a list over seeds; neither the variant nor
    the baseline is among them.
    """

    ours: Scores
    baseline: Scores
    known: Mapping[str, Scores]
    margin: float


def compare(part: Compared, parts: int) -> Comparison | None:
    """Compare a variant on one part.

    parts: how many the card corrects for. None where no two seeds of anything scatter yet.
    """
    if not part.ours or not part.baseline:
        return None
    ours, theirs = estimate_scatter(part)
    if not ours.freedom or not theirs.freedom:
        return None
    n = len(part.ours)
    m = len(part.baseline)
    difference = _difference(part)
    error, freedom = _error(ours, n, theirs, m)
    half = float(stdtrit(freedom, 1 - LEVEL / 2)) * error
    level = LEVEL / parts
    return Comparison(
        difference=difference,
        low=difference - half,
        high=difference + half,
        p=_two_sided(difference, error, freedom),
        p_equal=_beyond(difference, part.margin, error, freedom),
        scatter=ours,
        detectable=_detectable(error, freedom, level),
        seeds=_seeds_for(part.margin, ours, n, theirs, m, level),
    )


def judge(
    compared: Mapping[str, Comparison], better: Mapping[str, Direction]
) -> dict[str, Comparison]:
    """Correct the p values of a card's parts, and say of each what it shows: by name of the part.

    Holm's correction also holds for parts that share runs.
    """
    corrected = holm([each.p for each in compared.values()])
    equal = holm([each.p_equal for each in compared.values()])
    judged = {}
    for (name, each), p, p_equal in zip(compared.items(), corrected, equal, strict=True):
        each = replace(each, holm=p, holm_equal=p_equal)
        judged[name] = replace(each, verdict=_verdict(each, better[name]))
    return judged


def _verdict(compared: Comparison, better: Direction) -> Verdict:
    # first: a difference within the margin is none, however well it is known
    if compared.holm_equal <= LEVEL:
        return "no difference"
    if compared.holm <= LEVEL:
        is_higher = compared.difference > 0
        return "better" if is_higher == (better == "higher") else "worse"
    return "inconclusive"


# --- how seeds scatter -----------------------------------------------------------------------


def estimate_scatter(part: Compared) -> tuple[Scatter, Scatter]:
    """Estimate how seeds of the variant scatter, and those of the baseline."""
    ours = scatter_of(part.ours)
    theirs = scatter_of(part.baseline)
    known = pool(without_outliers(map(scatter_of, part.known.values())))
    is_alone = not known.freedom
    # rule 1: a variant that equals the baseline also scatters as the baseline does
    known = theirs if is_alone else replace(known, deviation=max(known.deviation, theirs.deviation))
    prior = replace(known, freedom=min(PRIOR, known.freedom))
    # where the baseline alone says how seeds scatter, it does not count twice for itself
    theirs = theirs if is_alone else pool([prior, theirs])
    if p_larger(ours, known) <= OUTLIER:
        return replace(ours, own=True), theirs
    return pool([prior, ours]), theirs


def scatter_of(group: Scores) -> Scatter:
    """Compute the standard deviation of one group of seeds; one seed has no degree of freedom."""
    freedom = max(0, len(group) - 1)
    return Scatter(scatter(group) if freedom else 0.0, freedom)


def pool(groups: Iterable[Scatter]) -> Scatter:
    """Pool the standard deviation over groups of seeds, by their degrees of freedom."""
    squares = 0.0
    freedom = 0
    for group in groups:
        squares += group.freedom * group.deviation**2
        freedom += group.freedom
    return Scatter(math.sqrt(squares / freedom) if freedom else 0.0, freedom)


def without_outliers(groups: Iterable[Scatter]) -> list[Scatter]:
    """Leave out the groups whose variance is significantly larger than that of the others.

    One after the other, the largest first, as by Cochran's test (1941); here by an F test with the
    others, which takes groups of any size, and corrected for their number by Bonferroni.
    """
    kept = sorted((group for group in groups if group.freedom), key=lambda each: each.deviation)
    # of two, the smaller could as well be the outlier
    while len(kept) > 2:
        *others, largest = kept
        if p_larger(largest, pool(others)) * len(kept) > OUTLIER:
            break
        kept = others
    return kept


def p_larger(one: Scatter, others: Scatter) -> float:
    """Compute p of the F test that a variance is not larger than another, one-sided."""
    if not one.deviation or not others.freedom:
        return 1.0
    if not others.deviation:
        return 0.0
    ratio = (one.deviation / others.deviation) ** 2
    return float(fdtrc(one.freedom, others.freedom, ratio))


# --- tests -----------------------------------------------------------------------------------


def _difference(part: Compared) -> float:
    ours = fmean(part.ours)
    theirs = fmean(part.baseline)
    if math.isclose(ours, theirs, rel_tol=EXACT, abs_tol=EXACT):
        return 0.0
    return ours - theirs


def _error(ours: Scatter, n: int, theirs: Scatter, m: int) -> tuple[float, float]:
    """Compute the standard error of the difference of two means, and its degrees of freedom.

    Of two variances, each with its freedom (Welch 1947).
    """
    one = ours.deviation**2 / n
    other = theirs.deviation**2 / m
    if not one + other:
        return 0.0, ours.freedom + theirs.freedom
    freedom = (one + other) ** 2 / (one**2 / ours.freedom + other**2 / theirs.freedom)
    return math.sqrt(one + other), freedom


def p_of_pair(gain: float, scatter: Scatter) -> float:
    """Compute the two-sided p that two runs differ by so much by chance."""
    return _two_sided(gain, math.sqrt(2) * scatter.deviation, scatter.freedom)


def _two_sided(difference: float, error: float, freedom: float) -> float:
    if not error:
        return float(difference == 0)
    return float(2 * stdtr(freedom, -abs(difference) / error))


def _beyond(difference: float, margin: float, error: float, freedom: float) -> float:
    """Compute p of the two one-sided tests that the difference is at least as large as the margin
    (Schuirmann 1987).
    """
    beyond = abs(difference) - margin
    if not error:
        return float(beyond >= 0)
    return float(stdtr(freedom, beyond / error))


# --- what more seeds would show --------------------------------------------------------------


def _detectable(error: float, freedom: float, level: float) -> float:
    """Compute the difference that is significant at a level with power 0.8."""
    edge = stdtrit(freedom, 1 - level / 2)
    return float(nctdtrinc(freedom, 1 - POWER, edge)) * error


def _provable(error: float, freedom: float, level: float) -> float:
    """Compute the margin within which models that do not differ are equivalent with power 0.8."""
    # either of the two tests may fail
    edges = stdtrit(freedom, 1 - level) + stdtrit(freedom, (1 + POWER) / 2)
    return float(edges) * error


def _seeds_for(
    margin: float, ours: Scatter, n: int, theirs: Scatter, m: int, level: float
) -> int | None:
    def settles(seeds: int) -> bool:
        scattered = replace(ours, freedom=ours.freedom + seeds - n)
        error, freedom = _error(scattered, seeds, theirs, m)
        needed = max(_detectable(error, freedom, level), _provable(error, freedom, level))
        return needed <= margin

    planned = range(n + 1, MOST_SEEDS + 1)
    place = bisect_left(planned, True, key=settles)
    return planned[place] if place < len(planned) else None
