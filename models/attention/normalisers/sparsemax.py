"""sparsemax: alpha = 2 (Martins and Astudillo 2016, algorithm 1).

p = [z - tau]_+;   with z sorted, rho the largest rank with 1 + rho z_rho > sum_{j <= rho} z_j,
tau = (sum_{j <= rho} z_j - 1) / rho
"""

import torch
from torch import Tensor

from models.attention.choice import Choice, Shape
from models.attention.normalisers._sparse import centre, through_jacobian


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept):
        z = centre(kept)
        ranked = z.sort(-1, descending=True).values
        total = ranked.cumsum(-1)
        rank = torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)
        rho = (1 + rank * ranked > total).sum(-1, keepdim=True)
        tau = (total.gather(-1, rho - 1) - 1) / rho
        p = (z - tau).clamp(min=0)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, gradient):
        (p,) = ctx.saved_tensors
        return through_jacobian((p > 0).to(p), gradient)


class Sparsemax(Choice):
    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        return _Sparsemax.apply(kept)
