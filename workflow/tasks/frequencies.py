"""What a predictor scores that knows nothing but how often each symbol occurs: the level of chance
of a dataset.
"""

import numpy as np

PLACES = 8  # the last bits of a logarithm differ between processors


def symbol_entropy(symbols: np.ndarray) -> float:
    """Compute the entropy of single symbols, in bits per symbol: no fixed distribution predicts
    these symbols better.

    >>> symbol_entropy(np.array([7, 7, 7, 7, 2, 2, 1, 5]))
    1.75
    """
    _, counts = np.unique(symbols, return_counts=True)
    shares = counts / counts.sum()
    in_bits = shares * np.log2(shares)
    return round(float(-in_bits.sum()), PLACES)
