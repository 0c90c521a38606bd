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
