"""Sinusoids through a matrix per layer, with biases u and v shared by all layers (Dai et al. 2019,
section 3.3).

    score(t, x) = [(q_t + u) . k_{t - x} + (q_t + v) . W_r R_{x - 1}] / sqrt(dk)

R_n: the sinusoids of distance n. `clamp`: in evaluation, distances are clamped to it (clamp_len of
the released evaluation scripts).
"""

from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from ...kernels.compiled.dense import Linear
from ..choice import Range, Shape
from ._position import Position
from ._sinusoid import halves


class TransformerXL(Position):
    has_keys = True

    def __init__(self, shape: Shape, *, clamp: Annotated[int | None, Range(ge=1)] = None):
        super().__init__(shape)
        self.shape = shape
        self.clamp = clamp
        self.u = nn.Parameter(0.02 * torch.randn(shape.heads, 1, shape.d_k))
        self.v = nn.Parameter(0.02 * torch.randn(shape.heads, 1, shape.d_k))
        self.project = Linear(shape.d_model, shape.heads * shape.d_k, bias=False)  # W_r
        self.dropout = 0.0  # on the sinusoids; Transformer-XL's model sets its own

    def for_next_layer(self) -> "TransformerXL":
        """Make a position with its own W_r and the same u and v."""
        other = TransformerXL(self.shape, clamp=self.clamp)
        other.u = self.u
        other.v = self.v
        return other

    def content(self, q: Tensor) -> Tensor:
        return q + self.u

    def query(self, q: Tensor) -> Tensor:
        return q + self.v

    def keys(self, window: int) -> Tensor:
        # Not of the type of W_r, which a graph of 16 bits converts: it has no such distances.
        like = self.u
        # The paper counts from 0: R_{x - 1} for x = window .. 1.
        distance = torch.arange(window - 1, -1, -1, device=like.device, dtype=like.dtype)
        if self.clamp is not None and not self.training:
            distance = distance.clamp(max=self.clamp)
        sinusoids = halves(distance, self.shape.d_model)
        r = self.project(dropout(sinusoids, self.dropout, self.training))
        by_head = r.view(window, self.shape.heads, self.shape.d_k)
        return by_head.permute(1, 2, 0)  # h dk window

    def macs(self, block: int, window: int) -> int:
        return window * self.project.weight.numel()
