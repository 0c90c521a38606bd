"""What the members of the alpha-entmax family share.

    p = [(alpha - 1) z - tau]_+ ^ (1 / (alpha - 1)),   tau such that sum p = 1
    dz = s (g - (s . g) / sum s),   s = p ^ (2 - alpha) on the support

Peters et al. 2019, proposition 2.
"""

from collections.abc import Callable

import torch
from torch import Tensor

# tau >= max - 1, so a scaled score this far below the maximum is off the support, and -inf may
# become it
FAR = -2.0


def centre(scaled: Tensor) -> Tensor:
    """Shift scaled scores so that a row's maximum is 0; everything surely off the support is
    `FAR`.
    """
    if scaled.element_size() < 4:
        scaled = scaled.float()
    largest = scaled.amax(-1, keepdim=True)
    return (scaled - largest).clamp(min=FAR)


def climb(z: Tensor, step: Callable[[Tensor], Tensor], steps: int = 50) -> Tensor:
    """Find x = [z - tau]_+ at the tau where `step` of x is 0, z as `centre` makes it.

    Newton's method from tau = -1, below the root; a row that has converged stays as it is.
    Measured: 6 steps as a rule, 12 for 4,096 scores.
    """
    tau = z.new_full((*z.shape[:-1], 1), -1.0)
    x = torch.empty_like(z)
    least = 4 * torch.finfo(z.dtype).eps  # a smaller step is rounding
    for _ in range(steps):
        # In place: this loop is most of the time of a sparse normaliser in torch.
        torch.sub(z, tau, out=x)
        x.clamp_(min=0)
        move = step(x)
        # A row that has converged does not move.
        still_moves = move > least
        move = move * still_moves
        if not move.any():
            return x
        tau += move
    torch.sub(z, tau, out=x)
    return x.clamp_(min=0)


def through_jacobian(s: Tensor, gradient: Tensor) -> Tensor:
    """Compute the gradient in z from the gradient in p."""
    # (s . g) / sum s: without it the weights of a row would no longer sum to one.
    product = (s * gradient).sum(-1, keepdim=True)
    mean = product / s.sum(-1, keepdim=True)
    return s * (gradient - mean)
