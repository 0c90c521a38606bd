"""Write a sequence of symbols in ascending order."""

import numpy as np

from ._problem import Drawn, write_after

TITLE = "sort"
LETTERS = 32  # longer sequences have runs of equal symbols
SYMBOLS = LETTERS + 1  # and the separator


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    return write_after(given, np.sort(given, 1), separator=LETTERS)


def right_keys(drawn: Drawn) -> np.ndarray:
    length = drawn.inputs.shape[1] // 2
    same = drawn.targets[:, :, None] == drawn.inputs[:, None, :]
    same[:, :, length:] = False  # only what is given
    return same
