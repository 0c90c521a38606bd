"""Remember the last bit that was written, among many to be ignored (Liu et al. 2023).

Instructions, each with a bit: write, ignore, and read. The first is a write, the last a read.
"""

import numpy as np

from ._problem import NOT_ASKED, Drawn, point_at

TITLE = "flip-flop"
WRITE, IGNORE, READ = 2, 3, 4  # bits are 0 and 1
WRITES = 0.1  # share of the instructions
SYMBOLS = 5


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    is_write = random.random((samples, length)) < WRITES
    is_write[:, 0] = True
    is_write[:, -1] = False
    instruction = np.where(is_write, WRITE, IGNORE)
    instruction[:, -1] = READ
    bit = random.integers(2, size=(samples, length))

    last = length - 1 - is_write[:, ::-1].argmax(1)  # place of the last write
    answer = np.take_along_axis(bit, last[:, None], 1)
    inputs = np.stack([instruction, bit], 2).reshape(samples, -1)[:, :-1]
    targets = np.full(inputs.shape, NOT_ASKED)
    targets[:, -1:] = answer
    return Drawn(inputs, targets)


def right_keys(drawn: Drawn) -> np.ndarray:
    is_write = drawn.inputs[:, ::2] == WRITE
    last = is_write.shape[1] - 1 - is_write[:, ::-1].argmax(1)
    return point_at(drawn, 2 * last[:, None] + 1)
