"""Each key is weighed by itself (Ramapuram et al. 2024, Sigmoid Self-Attention, section 3, equation 4).

p_i = 1 / (1 + exp(-(z_i - ln n)))

n is the length of the sequence in the paper; here the keys that the row keeps, so that streams need no length.
"""

from torch import Tensor

from ..choice import Choice, Shape


class Sigmoid(Choice):
    sums_to_one = False

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        n = kept.isfinite().sum(-1, keepdim=True).clamp(min=1).to(kept.dtype)
        return (kept - n.log()).sigmoid()
