"""softmax: alpha -> 1.    p_i = exp(z_i) / sum_j exp(z_j)"""

from torch import Tensor

from ..choice import Choice, Shape


class Softmax(Choice):
    kernel = "softmax"

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        return kept.softmax(-1)
