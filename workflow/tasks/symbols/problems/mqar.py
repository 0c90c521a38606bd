"""Recall the values of several keys (multi-query associative recall, Arora et al. 2024).

`length` pairs of a key and its value, then keys in another order; the value of each is asked. A key
is two symbols, so that many keys share one of them.
"""

import numpy as np

from workflow.config.errors import ConfigError

from ._problem import NOT_ASKED, Drawn, point_at

TITLE = "recall (MQAR)"
LETTERS = 32
KEYS = LETTERS**2
VALUES = 64
QUERIES = 8  # at most, and no more than there are pairs
SYMBOLS = LETTERS + VALUES


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    if length > KEYS:
        raise ConfigError(f"mqar: {length:,} pairs need as many keys; valid: at most {KEYS:,}")
    # Keys that differ: the first of a permutation of all.
    numbers = random.random((samples, KEYS)).argsort(1)[:, :length]
    keys = np.stack([numbers // LETTERS, numbers % LETTERS], 2)
    values = LETTERS + random.integers(VALUES, size=(samples, length, 1))
    pairs = np.concatenate([keys, values], 2).reshape(samples, -1)  # k k v k k v ..

    asked = random.random((samples, length)).argsort(1)[:, :QUERIES, None]
    queries = np.take_along_axis(keys, asked, 1).reshape(samples, -1)
    answers = np.take_along_axis(values, asked, 1)

    inputs = np.concatenate([pairs, queries], 1)
    targets = np.full(inputs.shape, NOT_ASKED)
    targets[:, pairs.shape[1] + 1 :: 2] = answers[:, :, 0]  # after both symbols of a key
    return Drawn(inputs, targets)


def right_keys(drawn: Drawn) -> np.ndarray:
    samples = len(drawn.inputs)
    asked = (drawn.targets[0] != NOT_ASKED).sum()
    pairs = drawn.inputs[:, : -2 * asked].reshape(samples, 1, -1, 3)
    queries = drawn.inputs[:, -2 * asked :].reshape(samples, -1, 1, 2)
    is_key = (pairs[..., :2] == queries).all(-1)  # N queries pairs
    return point_at(drawn, 3 * is_key.argmax(2) + 2)
