"""What length does to attention, by formula: nothing here needs training. No torch.

One of n keys has a score that exceeds the others by a gap.
"""

import math
from collections.abc import Sequence


def softmax_weight(n: int, gap: float) -> float:
    """The weight of the highest of n scores, the others `gap` below it, by softmax."""
    return 1 / (1 + (n - 1) * math.exp(-gap))


def ssmax_weight(n: int, gap: float, s: float) -> float:
    """The weight of the highest of n scores by SSMax, which multiplies them by s log n."""
    # Nakanishi 2025, Figure 1. It tends to 1 where s times the gap is above 1, else to 0.
    return softmax_weight(n, s * math.log(n) * gap)


def entmax15_weight(n: int, gap: float) -> float:
    """The weight of the highest of n scores by entmax-1.5 (Peters et al. 2019).

    From a gap of 2 on, the other keys have no weight, however many there are.
    """
    if gap >= 2 or n == 1:
        return 1.0
    # p = [z / 2 - tau]_+^2: the highest has x^2, each other (x - gap / 2)^2, and all sum to 1.
    half = gap / 2
    others = n - 1
    x = (others * half + math.sqrt(n - others * half**2)) / n
    return x**2


def bounded_softmax_entropy(n: int, width: float) -> float:
    """The least entropy of softmax over n > 1 scores in an interval of this width, over log n."""
    # It tends to 1 (Vasylenko et al. 2026, proposition 1). The entropy is least where each score
    # is at an end of the interval, a share q of them at the upper one.
    high = math.exp(width)
    mean = width * high / (high - 1)  # of exp(score) at the best q, the lower end being 0
    q = (mean - 1) / (high - 1)
    below_log_n = math.log(mean) - width * q * high / mean
    return 1 + below_log_n / math.log(n)


def entmax_gap(alpha: float, kept: int) -> float:
    """The gap from which alpha-entmax gives all weight to the highest scores, `kept` equal ones."""
    # Vasylenko et al. 2026, lemma 2. It does not depend on n.
    return kept ** -(alpha - 1) / (alpha - 1)


def ssmax_gap(s: float) -> float:
    """The gap above which SSMax keeps the highest score however many keys are added."""
    return 1 / s


def alibi_cutoff(alpha: float, slope: float, spread: float) -> int:
    """The distance from which alpha-entmax with ALiBi gives no weight to scores within a spread."""
    # Vasylenko et al. 2026, appendix E.2; the spread is that of scores before ALiBi's bias.
    return math.floor((spread + 1 / (alpha - 1)) / slope + 1)


# Velickovic et al. 2025, from the highest power down
TEMPERATURE = (-0.037, 0.481, -2.3, 4.917, -1.791)


def sharpening(entropy: float, coefficients: Sequence[float] = TEMPERATURE) -> float:
    """The factor by which adaptive temperature multiplies scores whose weights have an entropy."""
    if entropy <= 0.5:
        return 1.0
    value = 0.0
    for coefficient in coefficients:
        value = value * entropy + coefficient
    return max(1.0, value)
