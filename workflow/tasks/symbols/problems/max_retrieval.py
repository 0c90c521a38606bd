"""Say the class of the item with the highest priority (Velickovic et al. 2025).

An item is one symbol for its class and its priority. No two items have the same priority.
"""

import numpy as np

from ._problem import NOT_ASKED, Drawn

TITLE = "maximum retrieval"
CLASSES = 4
PRIORITIES = 1024
ITEMS = CLASSES * PRIORITIES
SYMBOLS = ITEMS + 1 + CLASSES  # the query, and the answers


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    priority = random.random((samples, PRIORITIES)).argsort(1)[:, :length]
    kind = random.integers(CLASSES, size=(samples, length))
    items = kind * PRIORITIES + priority

    highest = priority.argmax(1)[:, None]
    answer = ITEMS + 1 + np.take_along_axis(kind, highest, 1)
    query = np.full((samples, 1), ITEMS)
    inputs = np.concatenate([items, query], 1)
    nothing = np.full(items.shape, NOT_ASKED)
    return Drawn(inputs, np.concatenate([nothing, answer], 1))
