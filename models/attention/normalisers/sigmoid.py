"""Each key is weighted independently (Ramapuram et al. 2024, Sigmoid Self-Attention, section 3,
equation 4).

p_i = 1 / (1 + exp(-(z_i - ln n)))

n is the length of the sequence in the paper; here the keys that the row keeps, so that streams need
no length.
"""

import math

import torch
from torch import Tensor

from ..choice import Choice, Shape


class Sigmoid(Choice):
    sums_to_one = False
    kernel = "sigmoid"

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        is_kept = kept > -math.inf
        n = is_kept.sum(-1, keepdim=True).clamp(min=1).to(kept.dtype)
        # Each weight knows its own score only: without this, a run that diverges would get weights
        # of 1 from +inf.
        has_numbers = (kept < math.inf).all(-1, keepdim=True)
        log_n = torch.where(has_numbers, n.log(), math.nan)
        return (kept - log_n).sigmoid()
