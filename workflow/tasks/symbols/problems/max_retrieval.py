"""Say the class of the item with the highest priority so far (Velickovic et al. 2025).

An item is one symbol for its class and its priority. No two items have the same priority. The
answer is asked after each item of the second half.
"""

import numpy as np

from ._problem import NOT_ASKED, Drawn, point_at

TITLE = "maximum retrieval"
CLASSES = 2
PRIORITIES = 1024
SYMBOLS = CLASSES * PRIORITIES  # the first say the answer, too


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    priority = random.random((samples, PRIORITIES)).argsort(1)[:, :length]
    kind = random.integers(CLASSES, size=(samples, length))

    place = _highest_so_far(priority)
    targets = np.take_along_axis(kind, place, 1)
    targets[:, : length // 2] = NOT_ASKED
    return Drawn(kind * PRIORITIES + priority, targets)


def right_keys(drawn: Drawn) -> np.ndarray:
    place = _highest_so_far(drawn.inputs % PRIORITIES)
    is_asked = drawn.targets[0] != NOT_ASKED
    return point_at(drawn, place[:, is_asked])


def _highest_so_far(priority: np.ndarray) -> np.ndarray:
    """Find the place of the highest of all priorities up to each: N L -> N L."""
    highest = np.maximum.accumulate(priority, 1)
    is_new = priority == highest
    return np.maximum.accumulate(is_new * np.arange(priority.shape[1]), 1)
