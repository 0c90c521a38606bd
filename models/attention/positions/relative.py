"""One learned vector per distance, shared by all heads and layers (Shaw et al. 2018; Adaptive
Attention Span, 2.1).

score(t, x) = (q_t . k_{t - x} + q_t . p_x) / sqrt(dk)
"""

from typing import Annotated

import torch
from torch import Tensor, nn

from ..choice import Range, Shape
from ._position import Position


class Relative(Position):
    example = {"limit": 24}
    from_grid = {"limit": "S"}
    has_keys = True

    def __init__(self, shape: Shape, *, limit: Annotated[int, Range(ge=1)]):
        super().__init__(shape)
        self.limit = limit
        # the last column is x = 1, the first x = S
        self.table = nn.Parameter(torch.randn(shape.d_k, limit))

    def keys(self, window: int) -> Tensor:
        return self.table[:, self.limit - window :]
