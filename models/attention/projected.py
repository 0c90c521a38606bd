"""Keys and values of what a layer remembers, without gradient into the past."""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class _Projected(torch.autograd.Function):
    """rows W^T, of which the last are the block's own: dW from all rows, dx from those alone."""

    @staticmethod
    def forward(ctx, x, weight, rows):
        ctx.save_for_backward(weight)
        ctx.rows, ctx.own = rows, x.shape  # a view of a piece of memory that is appended to and never written again
        return (rows.flatten(0, 1) @ weight.T).unflatten(0, rows.shape[:2])

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (weight,) = ctx.saved_tensors
        gradient = gradient.flatten(0, 1)
        own = gradient[len(gradient) - ctx.own[0] * ctx.own[1] :]
        return (own @ weight).view(ctx.own), gradient.T @ ctx.rows.flatten(0, 1), None


def project(x: Tensor, weight: Tensor, rows: Tensor) -> Tensor:
    """rows: K B d, the last T of them x: T B d; weight: c d -> K B c."""
    return _Projected.apply(x, weight, rows) if torch.is_grad_enabled() else rows @ weight.T
