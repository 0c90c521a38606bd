"""entmax with alpha = 1.5 (Peters et al. 2019, equation 5).

p = [z / 2 - tau]_+ ^ 2,   tau such that sum p = 1

Of x = [z / 2 - tau]_+ with norm |x|, Newton's method on |x| = 1 is tau += (|x| - 1) |x| / sum x:
the norm falls with tau, convex and nearly straight, and about five steps are exact, where sorting
(algorithm 2 there) takes longer.
"""

import torch
from torch import Tensor

from ..choice import Choice, Shape
from ._sparse import centre, climb, through_jacobian


def _step(x: Tensor) -> Tensor:
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return (norm - 1) * norm / x.sum(-1, keepdim=True)


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kept):
        x = climb(centre(kept / 2), _step)
        # s = p^(2 - alpha) = p^(1/2) = x
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return through_jacobian(x, gradient)


class Entmax15(Choice):
    kernel = "entmax"
    library = "entmax15"
    alpha = 1.5

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        return _Entmax15.apply(kept)
