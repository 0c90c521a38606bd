"""Keys and values of what a layer has cached, without gradient into the past."""

import torch
from torch import Tensor

from models.kernels.no_double_backward import no_double_backward


class _Projected(torch.autograd.Function):
    """rows W_k^T and rows W_v^T, of which the last are the block's own: dW from all rows, dx from those alone."""

    @staticmethod
    def forward(ctx, x, keys, values, rows):
        ctx.save_for_backward(keys, values)
        ctx.rows, ctx.own = rows, x.shape  # a view of a buffer that is appended to and never written again
        flat = rows.flatten(0, 1)
        return tuple((flat @ weight.T).unflatten(0, rows.shape[:2]) for weight in (keys, values))

    @staticmethod
    @no_double_backward
    def backward(ctx, *gradients):
        rows, own = ctx.rows.flatten(0, 1), ctx.own[0] * ctx.own[1]
        dk, dv = (gradient.flatten(0, 1) for gradient in gradients)
        keys, values = ctx.saved_tensors
        dx = (dk[len(dk) - own :] @ keys).addmm_(dv[len(dv) - own :], values)
        return dx.view(ctx.own), dk.T @ rows, dv.T @ rows, None


def project(x: Tensor, keys: Tensor, values: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """rows: K B d, the last T of them x: T B d; keys: c d, values: c' d -> K B c, K B c'."""
    if torch.is_grad_enabled():
        return _Projected.apply(x, keys, values, rows)
    return rows @ keys.T, rows @ values.T
