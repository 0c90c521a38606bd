"""alpha-entmax with alpha learned by each head (Correia et al. 2019), tau by Newton's method.

p = [(alpha - 1) z - tau]_+ ^ (1 / (alpha - 1)),   alpha = 1 + sigmoid(a)

tau makes |x| = 1 in the norm of order r = 1 / (alpha - 1), x = [(alpha - 1) z - tau]_+. The norm falls with tau, convex
and nearly straight, so Newton's method climbs from below and converges in a few steps, where bisection needs one a bit:

    tau += (|x| - 1) |x|^(r - 1) / sum x^(r - 1) = (P - P^(2 - alpha)) / sum x^(r - 1),   P = sum x^r

dp_i / dalpha = (p_i - q_i) / (alpha - 1)^2 - (p_i ln p_i - q_i sum_j p_j ln p_j) / (alpha - 1),   q = s / sum s
"""

import torch
from torch import Tensor, nn

from models.attention.choice import Choice, Shape
from models.attention.normalisers._sparse import centre, climb, through_jacobian


class _EntmaxAlpha(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept, alpha):
        power = 1 / (alpha - 1)
        z = centre((alpha - 1) * kept)
        near = (power - 1).clamp(min=1e-6)  # at alpha = 2 as well, nothing off the support counts

        def step(x: Tensor) -> Tensor:
            s = x.pow(near)
            total = (s * x).sum(-1, keepdim=True)
            return (total - total.pow(2 - alpha)) / s.sum(-1, keepdim=True)

        p = climb(z, step).pow(power)
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
