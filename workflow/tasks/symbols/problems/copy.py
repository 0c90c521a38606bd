"""Write a sequence of symbols again."""

import numpy as np

from ._problem import Drawn, point_at, write_after

TITLE = "copy"
LETTERS = 32
SYMBOLS = LETTERS + 1  # and the separator


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    return write_after(given, given, separator=LETTERS)


def right_keys(drawn: Drawn) -> np.ndarray:
    length = drawn.inputs.shape[1] // 2
    return point_at(drawn, np.arange(length))
