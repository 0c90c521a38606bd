"""What the problems share: what one draws, and the layout of those that write an answer.

A problem is one file in this folder. It has a docstring, whose first line describes it on pages,
`TITLE`, `SYMBOLS` and `draw`. It may have `right_keys(drawn)`: which keys hold the answer to each
query, N L L, bool. Pages then show how much weight they get.
"""

from dataclasses import dataclass

import numpy as np

NOT_ASKED = -1


@dataclass(frozen=True)
class Drawn:
    """N sequences of L symbols.

    inputs: N L, what a model reads. targets: N L, what it must say after each of them, `NOT_ASKED`
    where nothing is asked. A sample is solved if all of its targets are.
    """

    inputs: np.ndarray
    targets: np.ndarray


def write_after(given: np.ndarray, answer: np.ndarray, separator: int) -> Drawn:
    """Ask for an answer, N m, after what is given, N n, and a separator.

        inputs    a b c | c b        targets    . . . c b a

    A model reads the right answer up to the symbol that it must say, so the most probable symbols
    are all right exactly if greedy decoding gives the answer.
    """
    between = np.full((len(given), 1), separator)
    inputs = np.concatenate([given, between, answer[:, :-1]], 1)
    targets = np.full(inputs.shape, NOT_ASKED)
    targets[:, given.shape[1] :] = answer
    return Drawn(inputs, targets)


def point_at(drawn: Drawn, places: np.ndarray) -> np.ndarray:
    """Mark the key at one place for each query where something is asked: N L L, bool.

    places: m, or N m, of the m queries of a sequence in their order.
    """
    samples, length = drawn.targets.shape
    right = np.zeros((samples, length, length), bool)
    rows, queries = np.nonzero(drawn.targets != NOT_ASKED)
    of_all = np.broadcast_to(places, (samples, len(rows) // samples))
    right[rows, queries, of_all.ravel()] = True
    return right
