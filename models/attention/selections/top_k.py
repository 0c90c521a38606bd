"""The k largest scores of each row (Explicit Sparse Transformer, section 2, equation 2).

    t = k-th largest of the row;   kept = score where score >= t, else -inf

Ties with the threshold stay, so a row can keep more than k. A row with fewer than k visible keys
keeps all of them. The threshold is a constant: no gradient flows through the comparison.
"""

import math
from typing import Annotated

from torch import Tensor

from ..choice import Choice, Range, Shape


class TopK(Choice):
    example = {"k": 3}
    from_grid = {"k": "k"}
    kernel = "top_k"

    def __init__(self, shape: Shape, *, k: Annotated[int, Range(ge=1)]):
        super().__init__()
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        self.k = k

    def forward(self, masked: Tensor) -> Tensor:
        if self.k >= masked.size(-1):
            return masked
        # The k-th largest of each row: .. 1.
        largest = masked.detach().topk(self.k, dim=-1, sorted=True)
        threshold = largest.values[..., -1:]
        return masked.masked_fill(masked < threshold, -math.inf)
