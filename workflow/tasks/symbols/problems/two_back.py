"""Say at every symbol which one came two before it."""

import numpy as np

from ._problem import Drawn

TITLE = "two back"
LETTERS = 16
SYMBOLS = LETTERS


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    before = np.zeros_like(given)  # nothing came before the first two: symbol 0
    before[:, 2:] = given[:, :-2]
    return Drawn(given, before)


def right_keys(drawn: Drawn) -> np.ndarray:
    samples, length = drawn.inputs.shape
    two_back = np.eye(length, k=-2, dtype=bool)
    return np.broadcast_to(two_back, (samples, length, length))
