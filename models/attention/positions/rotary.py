"""Queries and keys rotated by their positions (Su et al. 2021, RoFormer, section 3.2.2, equations
14 to 16).

    score(t, x) = (R_t q_t) . (R_{t - x} k_{t - x}) / sqrt(dk)

R_n rotates the pair of numbers 2i and 2i + 1 of a head by the angle n 10000^(-2i / dk).
"""

import torch
from torch import Tensor

from ..choice import Shape
from ._position import Position


class Rotary(Position):
    def __init__(self, shape: Shape):
        super().__init__(shape)
        if shape.d_k % 2:
            raise ValueError(
                f"a rotary position turns pairs of numbers, so d_k must be even, got {shape.d_k}"
            )

    def turn(self, x: Tensor, place: Tensor) -> Tensor:
        # Angles of far places need more than 16 bits.
        wide = torch.promote_types(x.dtype, torch.float32)
        width = x.size(-1)
        twice_i = torch.arange(0, width, 2, device=x.device, dtype=wide)
        frequency = 10000 ** -(twice_i / width)
        angle = place[..., None] * frequency  # .. dk/2
        cos = angle.cos().to(x.dtype)
        sin = angle.sin().to(x.dtype)
        even = x[..., 0::2]
        odd = x[..., 1::2]
        # Of each pair the product with its rotation matrix (equation 15).
        turned_even = even * cos - odd * sin
        turned_odd = even * sin + odd * cos
        pairs = torch.stack([turned_even, turned_odd], -1)
        return pairs.flatten(-2)
