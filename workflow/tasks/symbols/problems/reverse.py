"""Write a sequence of symbols backwards."""

import numpy as np

from ._problem import Drawn, point_at, write_after

TITLE = "reverse"
LETTERS = 16  # with more it is learned too slowly (docs/log.md)
SYMBOLS = LETTERS + 1  # and the separator


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = random.integers(LETTERS, size=(samples, length))
    return write_after(given, given[:, ::-1], separator=LETTERS)


def right_keys(drawn: Drawn) -> np.ndarray:
    length = drawn.inputs.shape[1] // 2
    return point_at(drawn, np.arange(length)[::-1])
