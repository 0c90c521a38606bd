"""softmax with one more in the denominator, so that a head can attend to nothing (Miller 2023,
"Attention is off by one").

p_i = exp(z_i) / (1 + sum_j exp(z_j))

The one is a key of score 0 and value 0: what a sink would take is left over.
"""

import torch
from torch import Tensor

from ..choice import Choice, Shape


class SoftmaxOne(Choice):
    sums_to_one = False
    kernel = "softmax_one"

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        nothing = kept.new_zeros(*kept.shape[:-1], 1)
        # The weight of the key that says nothing is dropped.
        return torch.cat([nothing, kept], -1).softmax(-1)[..., 1:]
