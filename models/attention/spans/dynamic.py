"""A span computed from the input at the query (Adaptive Attention Span, section 2.3).

    z_t = S sigmoid(v . x_t + b)     m(x) = clamp((R + z_t - (x - 1)) / R, 0, 1)
    loss += lambda / M  sum z_t

The paper leaves open how the penalty is reduced over time and batch (here: the mean) and where v
starts (zeros).
"""

from typing import Annotated

import torch
from torch import Tensor, nn

from ...kernels.compiled.dense import linear
from ..choice import Range, Shape
from ._ramp import log_ramp, ramp_reach
from ._span import Span


class Dynamic(Span):
    follows_input = True
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
        start: float = -4.0,
    ):
        super().__init__(shape)
        if ramp > limit:
            raise ValueError(f"ramp R = {ramp} must not exceed S = {limit}")
        self.limit = limit
        self.ramp = ramp
        self.penalty_weight = penalty_weight
        self.weight = nn.Parameter(torch.zeros(shape.heads, shape.d_model))  # v
        self.bias = nn.Parameter(torch.full((shape.heads,), start))  # b
        # mean over heads, time and batch of the last block: for the penalty
        self._fraction = torch.tensor(0.0)
        self._seen: list[Tensor] = []  # evaluated spans by head since the last facts()
        self._farthest: list[Tensor] = []  # and the farthest reach of each evaluated block

    def extent(self, inputs: Tensor) -> Tensor:
        by_head = torch.sigmoid(linear(inputs, self.weight, self.bias))  # B T h
        fraction = by_head.transpose(1, 2)[..., None]  # B h T 1
        # Its mean over heads, time and batch is the penalty: kept with its gradient.
        if self.training:
            self._fraction = fraction.mean()
        else:
            self._fraction = self._fraction.detach()  # a tensor with its graph cannot be copied
            self._note(self.limit * fraction.detach().double())
        return self.limit * fraction

    def _note(self, z: Tensor) -> None:
        """Keep what the spans of an evaluated block are, z: B h T 1, for the next facts()."""
        self._seen.append(self._spans(z).mean((0, 2, 3)))
        self._farthest.append(ramp_reach(z, self.ramp, self.limit).max())

    def _spans(self, z: Tensor) -> Tensor:
        return (z + self.ramp).clamp(max=self.limit)

    def log_mask(self, x: Tensor, z: Tensor) -> Tensor:
        return log_ramp(x, z, self.ramp)

    def reach(self, z: Tensor) -> Tensor:
        return ramp_reach(z, self.ramp, self.limit).amax((0, 2, 3))

    def penalty(self) -> Tensor:
        return self.penalty_weight * self.limit * self._fraction

    def macs(self, block: int, window: int) -> int:
        return block * self.weight.numel()

    def facts(self) -> dict:
        """Return means and the farthest reach over what was evaluated since the last call; else
        those of the bias.
        """
        z = self.limit * torch.sigmoid(self.bias.detach().double())
        spans = self._spans(z)
        farthest = ramp_reach(z, self.ramp, self.limit)
        if self._seen:
            spans = torch.stack(self._seen).mean(0)
            farthest = torch.stack(self._farthest)
        self._seen = []
        self._farthest = []
        return {
            "spans": spans.tolist(),
            "mean_span": spans.mean().item(),
            "max_span": float(farthest.max()),
        }
