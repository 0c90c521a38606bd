"""Absolute positions, added to embeddings (Attention Is All You Need, section 3.5 and Table 3 row E)."""

import math

import torch
from torch import Tensor, nn

from models.attention.positions._sinusoid import interleaved


class PositionalEncoding(nn.Module):
    """Vectors of the positions 0 .. max_length - 1 of a sentence: "sinusoid", or "learned" from N(0, 1 / d)."""

    def __init__(self, name: str, max_length: int, d_model: int):
        super().__init__()
        if name == "learned":
            self.table = nn.Parameter(torch.randn(max_length, d_model) / math.sqrt(d_model))
        elif name == "sinusoid":
            self.register_buffer("table", interleaved(torch.arange(max_length).float(), d_model), persistent=False)
        else:
            raise ValueError(f"unknown positional_encoding '{name}'; valid: sinusoid, learned")

    def forward(self, start: int, count: int) -> Tensor:
        """Vectors of the positions start .. start + count - 1: (count, d); ValueError beyond the last."""
        if start + count > len(self.table):
            raise ValueError(f"a sentence of {start + count} tokens is longer than max_length = {len(self.table)}")
        return self.table[start : start + count]
