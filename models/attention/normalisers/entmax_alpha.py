"""alpha-entmax with alpha learned by each head (Correia et al. 2019), tau by Newton's method.

    p = [(alpha - 1) z - tau]_+ ^ (1 / (alpha - 1)),   alpha = 1 + sigmoid(a)

tau makes |x| = 1 in the norm of order r = 1 / (alpha - 1), x = [(alpha - 1) z - tau]_+. The norm
falls with tau, convex and nearly straight, so Newton's method climbs from below and converges in a
few steps, where bisection needs one a bit:

    tau += (|x| - 1) |x|^(r - 1) / sum x^(r - 1) = (P - P^(2 - alpha)) / sum x^(r - 1)
    P = sum x^r

The gradient in alpha:

    dp_i / dalpha = p_i [R (1 - e L_i) - r_i (1 + e H)] / (1 + e (H + e R))
    e = alpha - 1,   L = ln p,   H = -sum p L
    r = (exp(-e L) - 1 + e L) / e^2 = L^2 / 2 - ..,   R = sum p r

Powers of 1 / e lose their digits where e nears 0, which a sigmoid reaches in 32 bits. There weights
are written so that their limit at e = 0, softmax, has a value:

    ln p = ln(1 + e u) / e,   u = z - theta,   theta by Newton's method on ln sum p = 0
"""

import torch
from torch import Tensor, nn

from ..choice import Choice, Shape
from ._sparse import centre, climb, may_ask, through_jacobian

NEAR = 1 / 256  # alpha - 1 below which weights are computed near softmax


def _weigh(kept: Tensor, alpha: Tensor) -> Tensor:
    power = 1 / (alpha - 1)
    z = centre((alpha - 1) * kept)
    # r - 1; at alpha = 2 it is 0, and 0^0 = 1 would count what is off the support.
    less = (power - 1).clamp(min=1e-30)

    # (P - P^(2 - alpha)) / sum x^(r - 1), as above.
    def step(x: Tensor) -> Tensor:
        s = x.pow(less)
        total = (s * x).sum(-1, keepdim=True)
        excess = total - total.pow(2 - alpha)
        return excess / s.sum(-1, keepdim=True)

    x = climb(z, step)
    p = x.pow(power)
    # Newton stops at the rounding of |x| = 1; the power makes more of it.
    return p / p.sum(-1, keepdim=True)


def _weigh_near_softmax(kept: Tensor, e: Tensor) -> Tensor:
    if kept.element_size() < 4:
        kept = kept.float()
    # theta of softmax to begin with. No weight is left so far below, and 0 u is 0 only where u is
    # finite.
    theta = kept.logsumexp(-1, keepdim=True)
    u = (kept - theta).clamp(min=-1e4)
    for _ in range(6):
        # ln p = ln(1 + e u) / e, and u itself at e = 0.
        eu = (e * u).clamp(min=-1)
        logs = torch.where(e > 0, eu.log1p() / e, u)
        p = logs.exp()
        total = p.sum(-1, keepdim=True)
        slope = p.pow(1 - e).sum(-1, keepdim=True)
        u = u - total.log() * total / slope
    return p / total


def _slope(p: Tensor, e: Tensor) -> Tensor:
    """Compute dp / dalpha: 0 where p is."""
    L = _positive(p, 1).log()  # ln p
    y = -e * L
    # r = L^2 / 2 times the series of 2 (exp(y) - 1 - y) / y^2, whose digits cancel in the closed
    # form where y is small.
    terms = torch.ones_like(p)
    for n in range(18, 2, -1):
        terms = 1 + y / n * terms
    near = L.square() * terms / 2
    e_square = torch.where(e > 0, e.square(), 1)
    far = (y.exp() - 1 - y) / e_square
    r = torch.where(y > 1, far, near)
    R = (p * r).sum(-1, keepdim=True)
    H = (p * -L).sum(-1, keepdim=True)
    # p [R (1 - e L) - r (1 + e H)] / (1 + e (H + e R))
    of_all = R * (1 + y)
    of_own = r * (1 + e * H)
    divisor = 1 + e * (H + e * R)
    return p * (of_all - of_own) / divisor


def _positive(p: Tensor, otherwise: float) -> Tensor:
    """Return p where it is above 0, at least the smallest normal number; else another number."""
    smallest = torch.finfo(p.dtype).tiny
    return torch.where(p > 0, p.clamp(min=smallest), otherwise)


class _EntmaxAlpha(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept, alpha):
        # Heads of either kind: both are computed where any is near softmax, or may not be asked.
        near = alpha - 1 < NEAR
        p = _weigh(kept, alpha.clamp(min=1 + NEAR))
        if not may_ask(near) or near.any():
            p_near = _weigh_near_softmax(kept, alpha - 1)
            p = torch.where(near, p_near, p)
        ctx.save_for_backward(p, alpha)
        return p

    @staticmethod
    def backward(ctx, gradient):
        p, alpha = ctx.saved_tensors
        # s = p^(2 - alpha) on the support.
        power = _positive(p, 1).pow(2 - alpha)
        s = torch.where(p > 0, power, 0)
        d_alpha = None
        if ctx.needs_input_grad[1]:
            by_key = gradient * _slope(p, alpha - 1)
            d_alpha = by_key.sum_to_size(alpha.shape)
        return through_jacobian(s, gradient), d_alpha


class EntmaxAlpha(Choice):
    kernel = "entmax"
    library = "entmax_bisect"
    measures_by_head = {"alpha": ("alpha of each head", "")}

    def __init__(self, shape: Shape):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(shape.heads, 1, 1))  # alpha starts at 1.5

    @staticmethod
    def alpha_from(a: Tensor) -> Tensor:
        return 1 + a.sigmoid()

    @property
    def alpha(self) -> Tensor:
        return self.alpha_from(self.a)

    def forward(self, kept: Tensor) -> Tensor:
        return _EntmaxAlpha.apply(kept, self.alpha)

    def facts(self) -> dict:
        return {"alpha": self.alpha.detach().flatten().tolist()}
