"""Recall the values of several keys (multi-query associative recall, Arora et al. 2024).

`length` pairs of a key and its value, then keys in another order; the value of each is asked.
"""

import numpy as np

from ._problem import NOT_ASKED, Drawn

TITLE = "recall (MQAR)"
KEYS = 1024
VALUES = 64
QUERIES = 8  # at most, and no more than there are pairs
SYMBOLS = KEYS + VALUES


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    # Keys that differ: the first of a permutation of all.
    keys = random.random((samples, KEYS)).argsort(1)[:, :length]
    values = KEYS + random.integers(VALUES, size=(samples, length))
    pairs = np.stack([keys, values], 2).reshape(samples, -1)  # k v k v ..

    asked = random.random((samples, length)).argsort(1)[:, :QUERIES]
    queries = np.take_along_axis(keys, asked, 1)
    answers = np.take_along_axis(values, asked, 1)

    inputs = np.concatenate([pairs, queries], 1)
    nothing = np.full(pairs.shape, NOT_ASKED)
    return Drawn(inputs, np.concatenate([nothing, answers], 1))
