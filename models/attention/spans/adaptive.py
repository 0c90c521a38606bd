"""A span learned by each head (Adaptive Attention Span, section 2.2).

m(x) = clamp((R + z - (x - 1)) / R, 0, 1)     z = S z'     loss += lambda / M  sum z
"""

import math
from typing import Annotated

import torch
from torch import Tensor, nn

from ..choice import Range, Shape
from ._ramp import log_ramp, ramp_reach
from ._span import Span

# the cache grows and shrinks in steps, as in the released code, and keeps one step spare
CACHE_STEP = 64


class Adaptive(Span):
    example = {"limit": 8, "ramp": 3, "penalty_weight": 0.01}
    from_grid = {"limit": "S"}
    kernel = "ramp"

    def __init__(
        self,
        shape: Shape,
        *,
        limit: Annotated[int, Range(ge=1)],
        ramp: Annotated[int, Range(ge=1, le="limit")] = 32,
        penalty_weight: Annotated[float, Range(ge=0)] = 2e-6,
    ):
        super().__init__(shape)
        if ramp > limit:
            raise ValueError(f"ramp R = {ramp} must not exceed S = {limit}")
        self.limit = limit
        self.ramp = ramp
        self.penalty_weight = penalty_weight
        self.fraction = nn.Parameter(torch.zeros(shape.heads, 1, 1))  # z'

    def extent(self, inputs: Tensor) -> Tensor:
        return self.limit * self.fraction

    def log_mask(self, x: Tensor, z: Tensor) -> Tensor:
        return log_ramp(x, z, self.ramp)

    def reach(self, z: Tensor) -> Tensor:
        return ramp_reach(z, self.ramp, self.limit).flatten()

    def cache_length(self, window: int) -> int:
        steps = math.ceil(window / CACHE_STEP) + 1
        return min(self.limit, CACHE_STEP * steps)

    def penalty(self) -> Tensor:
        return self.penalty_weight * self.limit * self.fraction.mean()

    def after_step(self) -> None:
        self.fraction.data.clamp_(0, 1)

    def facts(self) -> dict:
        z = self.limit * self.fraction.detach().double().flatten()
        spans = (z + self.ramp).clamp(max=self.limit)
        # As the paper reports it: the mean of z, rounded up, plus R.
        mean = min(self.limit, math.ceil(z.mean().item()) + self.ramp)
        reach = ramp_reach(z, self.ramp, self.limit)
        return {
            "spans": spans.tolist(),
            "mean_span": float(mean),
            "max_span": float(reach.max()),
        }
