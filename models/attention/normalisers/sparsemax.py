"""sparsemax: alpha = 2 (Martins and Astudillo 2016, equation 2).

p = [z - tau]_+,   tau such that sum p = 1

Of x = [z - tau]_+, Newton's method is tau += (sum x - 1) / |support|: from below it climbs to the
exact tau in as many steps as the support shrinks, about six, where sorting (algorithm 1 there)
takes longer.
"""

import torch
from torch import Tensor

from ..choice import Choice, Shape
from ._sparse import centre, climb, through_jacobian


def _step(x: Tensor) -> Tensor:
    excess = x.sum(-1, keepdim=True) - 1
    support = x.sign().sum(-1, keepdim=True)  # how many keys are on it
    return excess / support


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept):
        p = climb(centre(kept), _step)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, gradient):
        (p,) = ctx.saved_tensors
        # s = p^0: 1 on the support
        return through_jacobian(p.sign(), gradient)


class Sparsemax(Choice):
    kernel = "entmax"
    library = "sparsemax"
    alpha = 2.0

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        return _Sparsemax.apply(kept)
