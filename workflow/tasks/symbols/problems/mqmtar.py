"""Recall values of two symbols for keys of two symbols (Vasylenko et al. 2026, MQMTAR).

Pairs fill 0.8 of `length` symbols, at random places; then four queries, each with its answer.
"""

import numpy as np

from ._problem import Drawn, point_at, write_after

TITLE = "recall (MQMTAR)"
LETTERS = 256
BLANK, IS, QUERY = LETTERS, LETTERS + 1, LETTERS + 2  # between pairs; between key and value; last
SYMBOLS = LETTERS + 3
PAIR = 6  # symbols: key key IS value value, and a blank
QUERIES = 4


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    count = max(1, int(0.8 * length / PAIR))
    rows = [_row(random, count, max(length, PAIR * count)) for _ in range(samples)]
    given, answer = map(np.array, zip(*rows, strict=True))
    return write_after(given, answer, separator=QUERY)


def right_keys(drawn: Drawn) -> np.ndarray:
    samples, answers = len(drawn.inputs), 3 * QUERIES
    keys = drawn.inputs[:, -5 * QUERIES : -answers].reshape(samples, QUERIES, 2)
    values = drawn.targets[:, -answers:].reshape(samples, QUERIES, 3)
    pairs = np.concatenate([keys, values], 2)  # key key IS value value
    places = np.lib.stride_tricks.sliding_window_view(drawn.inputs, 5, axis=1)
    start = (places[:, None] == pairs[:, :, None]).all(-1).argmax(2)  # of the first such pair
    return point_at(drawn, (start[:, :, None] + [2, 3, 4]).reshape(samples, -1))


def _row(random: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    keys, values = random.integers(LETTERS, size=(2, count, 2))
    # Blanks are shared out among the gaps before the pairs.
    gaps = np.bincount(random.integers(count, size=length - PAIR * count), minlength=count)
    context: list[int] = []
    for gap, key, value in zip(gaps, keys, values, strict=True):
        context += [BLANK] * gap + [*key, IS, *value, BLANK]
    asked = random.integers(count, size=QUERIES)
    answer = [[IS, *values[n]] for n in asked]
    return np.array([*context, *keys[asked].ravel()]), np.array(answer).ravel()
