"""Scores scaled by what the query reads and by how many keys it sees (Vasylenko et al. 2026).

    s(t) = 1 + beta (log(n + 1))^gamma

    beta = softplus(w . x_t + b)       gamma = 2 tanh(u . x_t + c),   by head

With entmax-1.5 as the normaliser this is ASEntmax; here it may meet any normaliser.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from ...kernels.compiled.dense import linear
from ..choice import Shape
from ._score_scale import ScoreScale

GAMMA = 2.0  # the most that gamma can be
START = 0.04  # beta at the start of `one`


class AdaptiveScale(ScoreScale):
    """init: how the two projections start.

    default: weights from N(0, 0.02), biases 0, as in Hugging Face. scaled: weights from
    N(0, 0.02 sqrt(512 / d)), so that gamma spreads in a small model as in the published one. one:
    weights 0, gamma 0 and beta 0.04, so that training starts from scores that are hardly scaled.
    """

    changes_queries = True
    counts_keys = True
    follows_input = True

    def __init__(
        self,
        shape: Shape,
        *,
        init: Literal["default", "scaled", "one"] = "scaled",
    ):
        super().__init__(shape)
        width = shape.d_model
        spread = {"default": 0.02, "scaled": 0.02 * math.sqrt(512 / width), "one": 0.0}[init]
        beta = math.log(math.expm1(START)) if init == "one" else 0.0
        self.beta_weight = nn.Parameter(spread * torch.randn(shape.heads, width))
        self.beta_bias = nn.Parameter(torch.full((shape.heads,), beta))
        self.gamma_weight = nn.Parameter(spread * torch.randn(shape.heads, width))
        self.gamma_bias = nn.Parameter(torch.zeros(shape.heads))

    def of_queries(self, x: Tensor, n: Tensor) -> Tensor:
        beta = nn.functional.softplus(linear(x, self.beta_weight, self.beta_bias))  # B T h
        gamma = GAMMA * torch.tanh(linear(x, self.gamma_weight, self.gamma_bias))
        growth = torch.log(n.to(beta.dtype) + 1)[..., None]  # T 1 or B T 1
        s = 1 + beta * growth**gamma
        return s.transpose(1, 2)[..., None]

    def macs(self, block: int, window: int) -> int:
        return block * (self.beta_weight.numel() + self.gamma_weight.numel())
