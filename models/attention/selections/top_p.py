"""The fewest keys that have a share p of the softmax (nucleus of Holtzman et al. 2020; in attention
Lin et al. 2025).

    kept = score where score >= t, else -inf;   t = the largest at which the keys with score >= t
    have the share p

Ties with the threshold stay. The threshold is a constant: no gradient flows through the comparison.
"""

import math
from typing import Annotated

from torch import Tensor

from ..choice import Choice, Range, Shape


class TopP(Choice):
    example = {"p": 0.7}

    def __init__(self, shape: Shape, *, p: Annotated[float, Range(gt=0, le=1)]):
        super().__init__()
        if not 0 < p <= 1:
            raise ValueError(f"p must be above 0 and at most 1, got {p}")
        self.p = p

    def forward(self, masked: Tensor) -> Tensor:
        if self.p == 1:
            return masked
        ordered = masked.detach().sort(-1, descending=True).values
        # The share of what comes before the second, the third, ..
        share = ordered.softmax(-1).cumsum(-1)
        before = share[..., :-1]
        # A key is kept as long as those before it have less than the share p: .. 1.
        last_kept = (before < self.p).sum(-1, keepdim=True)
        threshold = ordered.gather(-1, last_kept)
        return masked.masked_fill(masked < threshold, -math.inf)
