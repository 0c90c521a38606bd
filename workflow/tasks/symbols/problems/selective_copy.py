"""Write again the few symbols that stood among blanks (Poli et al. 2024, MAD)."""

import numpy as np

from ._problem import Drawn, point_at, write_after

TITLE = "selective copy"
LETTERS = 14
BLANK, SEPARATOR = 14, 15
KEPT = 4  # symbols among blanks, whatever the length
SYMBOLS = 16


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    places = np.sort(random.random((samples, length)).argsort(1)[:, :KEPT], 1)
    letters = random.integers(LETTERS, size=places.shape)
    given = np.full((samples, length), BLANK)
    np.put_along_axis(given, places, letters, 1)
    return write_after(given, letters, SEPARATOR)


def right_keys(drawn: Drawn) -> np.ndarray:
    given = drawn.inputs[:, :-KEPT]
    _, places = np.nonzero(given != BLANK)
    return point_at(drawn, places.reshape(-1, KEPT))
