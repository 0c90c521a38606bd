"""ALiBi in half of the heads, no positions in the others (Vasylenko et al. 2026, NAPE).

    score(t, x) = q_t . k_{t - x} / sqrt(dk) - m_h (x - 1)

    m_h = 1 / h    for h = 1 .. floor(H / 2)
    m_h = 0        for the other heads

The slopes are those of the released code; they fall more slowly than those of `alibi`. A score
scale changes the heads without slope alone.
"""

import torch
from torch import Tensor

from ..choice import Shape
from ._position import Position


class Nape(Position):
    has_bias = True

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.heads = shape.heads
        self.unscaled_heads = shape.heads // 2  # those with a slope

    def bias(self, x: Tensor) -> Tensor:
        head = torch.arange(1, self.heads + 1, device=x.device).double()
        slope = torch.where(head <= self.unscaled_heads, 1 / head, 0.0)
        # h 1 .. 1, to meet x of any shape
        slope = slope.view(-1, *[1] * x.dim())
        return -slope * (x - 1)
