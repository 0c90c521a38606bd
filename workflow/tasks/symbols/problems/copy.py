"""Write a sequence of symbols again."""

import numpy as np

from ._problem import Drawn, write_after

TITLE = "copy"
LETTERS = 32
SYMBOLS = LETTERS + 1  # and the separator


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    return write_after(given, given, separator=LETTERS)
