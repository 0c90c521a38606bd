"""Write a sequence of symbols backwards."""

import numpy as np

from ._problem import Drawn, write_after

TITLE = "reverse"
LETTERS = 32
SYMBOLS = LETTERS + 1  # and the separator


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    return write_after(given, given[:, ::-1], separator=LETTERS)
