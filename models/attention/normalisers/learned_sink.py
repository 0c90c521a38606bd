"""softmax with a learned score in the denominator, whose weight is dropped (OpenAI 2025, gpt-oss).

p_i = exp(z_i) / (exp(s_h) + sum_j exp(z_j)),   s_h learned, by head

softmax_one is the case s_h = 0.
"""

import torch
from torch import Tensor, nn

from ..choice import Choice, Shape


class LearnedSink(Choice):
    sums_to_one = False
    measures_by_head = {"sink_score": ("learned score of the sink", "")}

    def __init__(self, shape: Shape):
        super().__init__()
        self.score = nn.Parameter(torch.zeros(shape.heads, 1, 1))

    def forward(self, kept: Tensor) -> Tensor:
        sink = self.score.to(kept.dtype).expand(*kept.shape[:-1], 1)
        return torch.cat([sink, kept], -1).softmax(-1)[..., 1:]

    def facts(self) -> dict:
        return {"sink_score": self.score.flatten().tolist()}
