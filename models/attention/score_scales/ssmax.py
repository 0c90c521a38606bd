"""Scalable softmax: scores grow with the number of keys (Nakanishi 2025, equation 11).

    s(t) = s_h log(n + 1),   s_h learned, by head

p_i = n^(s z_i) / sum_j n^(s z_j) in the paper's form, where n is that of n + 1 here. s_h starts
near 1, as in the code that was released with ASEntmax.
"""

import torch
from torch import Tensor, nn

from ..choice import Shape
from ._score_scale import ScoreScale


class ScalableSoftmax(ScoreScale):
    changes_queries = True
    counts_keys = True
    measures_by_head = {"learned_scale": ("learned scale of scores", "")}

    def __init__(self, shape: Shape):
        super().__init__(shape)
        start = 1 + 0.01 * torch.randn(shape.heads)
        self.factor = nn.Parameter(start[:, None, None])  # h 1 1

    def of_queries(self, x: Tensor | None, n: Tensor) -> Tensor:
        growth = torch.log(n.to(self.factor.dtype) + 1)  # T or B T
        return self.factor * growth[..., None, :, None]

    def facts(self) -> dict:
        return {"learned_scale": self.factor.flatten().tolist()}
