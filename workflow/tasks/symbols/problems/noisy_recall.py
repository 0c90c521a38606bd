"""Recall the value that a key had before, among symbols without meaning (Poli et al. 2024, MAD).

A key has one value in a sequence. Where a key returns, its value is asked.
"""

import numpy as np

from ._problem import NOT_ASKED, Drawn

TITLE = "noisy recall"
KEYS, VALUES, NOISE = 8, 8, 16
NOISY = 0.2  # share of the steps that are noise
SYMBOLS = KEYS + VALUES + NOISE


def draw(random: np.random.Generator, samples: int, length: int) -> Drawn:
    value_of = KEYS + random.integers(VALUES, size=(samples, KEYS))
    key = random.integers(KEYS, size=(samples, length))
    key[:, -1] = key[:, 0]  # one key returns in every sequence
    value = np.take_along_axis(value_of, key, 1)
    is_noise = random.random((samples, length)) < NOISY
    is_noise[:, [0, -1]] = False
    noise = KEYS + VALUES + random.integers(NOISE, size=(2, samples, length))

    is_key = (key[:, :, None] == np.arange(KEYS)) & ~is_noise[:, :, None]
    count = np.take_along_axis(is_key.cumsum(1), key[:, :, None], 2)[:, :, 0]  # this one included

    first = np.where(is_noise, noise[0], key)
    second = np.where(is_noise, noise[1], value)
    asked = np.where((count > 1) & ~is_noise, value, NOT_ASKED)
    inputs = np.stack([first, second], 2).reshape(samples, -1)
    targets = np.stack([asked, np.full_like(asked, NOT_ASKED)], 2).reshape(samples, -1)
    return Drawn(inputs, targets)


def right_keys(drawn: Drawn) -> np.ndarray:
    before = np.roll(drawn.inputs, 1, axis=1)  # a value comes right after its key
    same = drawn.inputs[:, :, None] == before[:, None, :]
    is_asked = drawn.targets[:, :, None] != NOT_ASKED
    return np.tril(same & is_asked)
