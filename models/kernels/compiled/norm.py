"""A residual and its layer norm in C: see layers.c."""

import ctypes

import torch
from torch import Tensor

from models.kernels.compiled.attention import I
from models.kernels.compiled.build import library
from models.kernels.no_double_backward import no_double_backward


def _pointers(*tensors: Tensor | None) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(None if tensor is None else tensor.data_ptr()) for tensor in tensors]


class _Normed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, weight, bias, epsilon):
        x, y, d = x.contiguous(), None if y is None else y.contiguous(), x.size(-1)
        out, normal, inverse = torch.empty_like(x), torch.empty_like(x), x.new_empty(x.numel() // d)
        threads, sizes = torch.get_num_threads(), (I(len(inverse)), I(d))
        made = _pointers(out, normal, inverse)
        inputs, e = _pointers(x, y, weight, bias), ctypes.c_double(epsilon)
        library(x.dtype).norm_forward(*sizes, *inputs, e, *made, I(threads))
        ctx.save_for_backward(normal, inverse, weight)
        ctx.two = y is not None
        return out

    @staticmethod
    @no_double_backward
    def backward(ctx, dout):
        normal, inverse, weight = ctx.saved_tensors
        threads, d, dout = torch.get_num_threads(), len(weight), dout.contiguous()
        ds, (dweight, dbias) = torch.empty_like(normal), normal.new_zeros(2, threads, d)
        pointers = _pointers(dout, normal, inverse, weight, ds, dweight, dbias)
        library(normal.dtype).norm_backward(I(len(inverse)), I(d), *pointers, I(threads))
        return ds, ds if ctx.two else None, dweight.sum(0), dbias.sum(0), None


def add_and_norm(x: Tensor, y: Tensor | None, weight: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """The layer norm of x + y, .. d, with its weight and bias d; y None: of x alone."""
    return _Normed.apply(x, y, weight, bias, epsilon)
