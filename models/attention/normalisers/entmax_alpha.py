"""alpha-entmax with alpha learned by each head, by bisection (Correia et al. 2019).

p = [(alpha - 1) z - tau]_+ ^ (1 / (alpha - 1)),   alpha = 1 + sigmoid(a)
dp_i / dalpha = (p_i - q_i) / (alpha - 1)^2 - (p_i ln p_i - q_i sum_j p_j ln p_j) / (alpha - 1),   q = s / sum s
"""

import torch
from torch import Tensor, nn

from models.attention.choice import Choice, Shape
from models.attention.normalisers._sparse import centre, through_jacobian

HALVINGS = {torch.float32: 26, torch.float64: 50}  # more would halve below the last bit of tau


class _EntmaxAlpha(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept, alpha):
        power = 1 / (alpha - 1)
        z = centre((alpha - 1) * kept)
        low = z.new_full((*z.shape[:-1], 1), -1.0)  # the maximum is 0: tau lies in [-1, -n^(1 - alpha)]
        width = 1 - z.size(-1) ** (1 - alpha)
        for _ in range(HALVINGS[z.dtype]):
            width = width / 2
            middle = low + width
            too_much = (z - middle).clamp(min=0).pow(power).sum(-1, keepdim=True) >= 1
            low = torch.where(too_much, middle, low)
        p = (z - low).clamp(min=0).pow(power)
        p = p / p.sum(-1, keepdim=True)
        ctx.save_for_backward(p, alpha)
        return p

    @staticmethod
    def backward(ctx, gradient):
        p, alpha = ctx.saved_tensors
        s = torch.where(p > 0, p.clamp(min=torch.finfo(p.dtype).tiny).pow(2 - alpha), 0)
        q = s / s.sum(-1, keepdim=True)
        entropy = torch.special.entr(p)  # -p ln p, 0 at p = 0
        slope = (p - q) / (alpha - 1).square() + (entropy - q * entropy.sum(-1, keepdim=True)) / (alpha - 1)
        d_alpha = (gradient * slope).sum_to_size(alpha.shape) if ctx.needs_input_grad[1] else None
        return through_jacobian(s, gradient), d_alpha


class EntmaxAlpha(Choice):
    def __init__(self, shape: Shape):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(shape.heads, 1, 1))  # alpha starts at 1.5

    @property
    def alpha(self) -> Tensor:
        return 1 + self.a.sigmoid()

    def forward(self, kept: Tensor) -> Tensor:
        return _EntmaxAlpha.apply(kept, self.alpha)

    def facts(self) -> dict:
        return {"alpha": self.alpha.detach().flatten().tolist()}
