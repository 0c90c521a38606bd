"""A bias that falls with the distance, more steeply in the first heads (Press et al. 2022, ALiBi,
section 3).

    score(t, x) = q_t . k_{t - x} / sqrt(dk) - m_h (x - 1)     m_h = 2^(-8 h / H), h = 1 .. H

The paper's slopes for H a power of two, used for every H; the released code interpolates for
others.
"""

import torch
from torch import Tensor

from ..choice import Shape
from ._position import Position


class Alibi(Position):
    has_bias = True

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.heads = shape.heads

    def bias(self, x: Tensor) -> Tensor:
        head = torch.arange(1, self.heads + 1, device=x.device).double()
        slope = 2 ** (-8 * head / self.heads)
        # h 1 .. 1, to meet x of any shape
        slope = slope.view(-1, *[1] * x.dim())
        return -slope * (x - 1)
