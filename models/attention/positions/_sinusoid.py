"""Sinusoids of a position: wavelengths from 2 pi up to 10000 of it.

Attention Is All You Need, section 3.5.
"""

import torch
from torch import Tensor


def halves(position: Tensor, width: int) -> Tensor:
    """Put sines in the first half of the channels, cosines in the second: (n, width).

    Transformer-XL does so.
    """
    angles = _angles(position, width)
    both = torch.cat([angles.sin(), angles.cos()], -1)
    return both[:, :width]


def interleaved(position: Tensor, width: int) -> Tensor:
    """Put sines in the even channels, cosines in the odd ones, as printed: (n, width)."""
    angles = _angles(position, width)
    pairs = torch.stack([angles.sin(), angles.cos()], -1)
    # one channel too many where the width is odd
    return pairs.flatten(-2)[:, :width]


def _angles(position: Tensor, width: int) -> Tensor:
    # position / 10000^(2 i / width) for the pair i of channels
    twice_i = torch.arange(0, width, 2, device=position.device, dtype=position.dtype)
    frequencies = 10000 ** (-twice_i / width)
    return position[:, None] * frequencies
