"""Say at every symbol how many equal ones came just before it.

Blocks of 2 to 48 equal symbols follow one another.
"""

import numpy as np

from ._problem import Drawn

TITLE = "local count"
LETTERS = 16
SHORTEST, LONGEST = 2, 48
SYMBOLS = max(LETTERS, LONGEST)


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    given = np.empty((samples, length), int)
    count = np.empty((samples, length), int)
    for row in range(samples):
        sizes = random.integers(SHORTEST, LONGEST + 1, size=length // SHORTEST + 1)
        # The next letter differs: a step of 1 to LETTERS - 1 around the alphabet.
        letters = random.integers(1, LETTERS, size=len(sizes)).cumsum() % LETTERS
        given[row] = np.repeat(letters, sizes)[:length]
        ends = np.repeat(sizes.cumsum() - sizes, sizes)[:length]
        count[row] = np.arange(length) - ends
    return Drawn(given, count)
