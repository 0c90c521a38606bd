"""Sinusoids of a position: wavelengths from 2 pi up to 10000 of it (Attention Is All You Need,
section 3.5).
"""

import torch
from torch import Tensor


def halves(position: Tensor, width: int) -> Tensor:
    """Put sines in the first half of the channels, cosines in the second, as Transformer-XL does:
    (n, width).
    """
    angles = _angles(position, width)
    return torch.cat([angles.sin(), angles.cos()], -1)[:, :width]


def interleaved(position: Tensor, width: int) -> Tensor:
    """Put sines in the even channels, cosines in the odd ones, as printed: (n, width)."""
    angles = _angles(position, width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[:, :width]


def _angles(position: Tensor, width: int) -> Tensor:
    steps = torch.arange(0, width, 2, device=position.device, dtype=position.dtype)
    return position[:, None] * 10000 ** (-steps / width)
