"""entmax with alpha = 1.5 (Peters et al. 2019, algorithm 2), exact by sorting.

p = [z / 2 - tau]_+ ^ 2;   over the rho largest, with mean m and sum of squared deviations ss,
tau(rho) = m - sqrt((1 - ss) / rho), for the largest rho with tau(rho) <= z_rho / 2
"""

import torch
from torch import Tensor

from models.attention.choice import Choice, Shape
from models.attention.normalisers._sparse import centre, through_jacobian


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept):
        z = centre(kept / 2)
        ranked = z.sort(-1, descending=True).values
        rank = torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)
        mean = ranked.cumsum(-1) / rank
        deviations = (ranked.square().cumsum(-1) / rank - mean.square()) * rank
        taus = mean - ((1 - deviations) / rank).clamp(min=0).sqrt()
        rho = (taus <= ranked).sum(-1, keepdim=True)
        p = (z - taus.gather(-1, rho - 1)).clamp(min=0).square()
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, gradient):
        (p,) = ctx.saved_tensors
        return through_jacobian(p.sqrt(), gradient)


class Entmax15(Choice):
    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        return _Entmax15.apply(kept)
