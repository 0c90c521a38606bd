"""What a few runs can tell: intervals, p values, and the smallest effect that could have been seen.

Few seeds are the rule here: an interval, in tables, figures and claims alike, is Student's, which is wide for so few.
"""

import numpy as np
import pandas as pd
from scipy.special import nctdtrinc, stdtr, stdtrit  # scipy.stats has the same; its import takes a second

LEVEL, POWER = 0.05, 0.8


def mean_interval(values: list[float]) -> tuple[float, float | None, float | None]:
    """Mean and 95 % interval over seeds or pairs, by Student's t; no interval below two values."""
    mean, n = sum(values) / len(values), len(values)
    if n < 2:
        return mean, None, None
    half = stdtrit(n - 1, 0.975) * pd.Series(values).std() / n**0.5
    return mean, mean - half, mean + half


def half_width(low, high):
    """Of an interval, or of each in two columns: what stands behind ±. None where there is no interval."""
    return None if low is None or high is None else (high - low) / 2


def p_of(values: list[float], against: float = 0.0) -> float:
    """Of Student's t test, two-sided, that the mean over pairs is `against`; the values must scatter."""
    return float(2 * stdtr(len(values) - 1, -abs((np.mean(values) - against) / _error(values))))


def p_equal(values: list[float], against: float, within: float) -> float:
    """Of two one-sided t tests (Schuirmann 1987) that the mean lies farther than `within` from `against`."""
    return float(stdtr(len(values) - 1, (abs(np.mean(values) - against) - within) / _error(values)))


def detectable_effect(values: list[float]) -> float:
    """The smallest effect that so many pairs, scattered like these, would have shown four times out of five."""
    return smallest_effect(scatter(values), len(values))


def smallest_effect(scatter: float, n: int) -> float:
    """The same of n pairs whose standard deviation is `scatter`: of a t test at 5 %, by the noncentral t."""
    edge = stdtrit(n - 1, 1 - LEVEL / 2)  # the other tail adds nothing at effects as large as these
    return float(nctdtrinc(n - 1, 1 - POWER, edge) * scatter / n**0.5)


def scatter(values: list[float]) -> float:
    """The standard deviation over pairs; rounding is none."""
    sample = np.array(values, float)
    deviation = float(sample.std(ddof=1))
    return 0.0 if deviation <= 1e-12 * abs(sample).max() else deviation


def _error(values: list[float]) -> float:
    return scatter(values) / len(values) ** 0.5


def holm(p_values: list[float]) -> list[float]:
    """Each p for the whole family (Holm 1979): the smallest times their number, the next times one less, rising."""
    order, corrected, largest = np.argsort(p_values, kind="stable"), [1.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected
