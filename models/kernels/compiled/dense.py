"""Products and layer norms in C: see dense.c and layers.c. Several products at a time, so that
Python is asked once.
"""

import ctypes
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..no_double_backward import no_double_backward
from . import build
from .attention import I, P
from .build import library, threads
from .memory import address_of_row


class DenseStruct(ctypes.Structure):
    """The struct `dense` of dense.c."""

    _fields_ = [
        *((name, I) for name in ("m", "n", "k")),
        ("a", P),
        *((name, I) for name in ("a_row", "a_col")),
        ("b", P),
        *((name, I) for name in ("b_row", "b_col")),
        ("c", P),
        *((name, I) for name in ("c_row", "add", "relu")),
        ("bias", P),
    ]


class Product(NamedTuple):
    """c (+)= a b + bias, or max(0, .) of it; a: m k and b: k n of any strides, c: m n with
    contiguous rows.
    """

    a: Tensor
    b: Tensor
    c: Tensor
    add: bool = False
    relu: bool = False
    bias: Tensor | None = None


def multiply(*products: Product) -> None:
    """Compute the products one after the other, each by all threads.

    Threads do not wait for one another: a product may read, as its `a`, what one before it wrote
    for the same rows, and nothing else that these products write.

    ValueError for sizes or types that do not fit, and where rows of c are not contiguous or share
    numbers.
    """
    calls, kept, dtype = (DenseStruct * len(products))(), [], products[0].c.dtype
    for call, (a, b, c, add, relu, bias) in zip(calls, products, strict=True):
        (m, k), n = a.shape, b.size(1)
        alike = a.dtype == b.dtype == c.dtype == dtype and a.is_cpu and b.is_cpu and c.is_cpu
        if not alike or b.size(0) != k or c.shape != (m, n):
            shapes = ", ".join(f"{tuple(x.shape)} {x.dtype} on {x.device}" for x in (a, b, c))
            raise ValueError(f"cannot multiply these: {shapes}")
        c_row, c_col = c.stride()
        if n > 1 and c_col != 1 or m > 1 and c_row < n:
            raise ValueError(
                f"rows of a product must be contiguous, each of its own; strides {c.stride()}"
            )
        if a.is_neg() or b.is_neg():  # signs that torch has not written yet
            a, b = a.resolve_neg(), b.resolve_neg()
            kept += (a, b)
        if 1 not in b.stride():
            b = b.contiguous()
            kept.append(b)
        call.m, call.n, call.k = m, n, k
        call.a, call.a_row, call.a_col = a.data_ptr(), *a.stride()
        call.b, call.b_row, call.b_col = b.data_ptr(), *b.stride()
        call.c, call.c_row, call.add, call.relu = c.data_ptr(), c_row, add, relu
        call.bias = None if bias is None else address_of_row("a bias", bias, (n,), dtype)
    library(dtype).multiply(calls, I(len(products)), I(threads()))


class _Linear(torch.autograd.Function):
    """x W^T + b; dx = dy W, dW = dy^T x, db = sum dy."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.biased = bias is not None
        rows = x.flatten(0, -2)
        y = x.new_empty(len(rows), len(weight))
        multiply(Product(rows, weight.T, y, bias=bias))
        return y.view(*x.shape[:-1], len(weight))

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        rows, dy = x.flatten(0, -2), dy.reshape(-1, dy.size(-1))
        dx, dweight = rows.new_empty(rows.shape), weight.new_empty(weight.shape)
        multiply(Product(dy, weight, dx), Product(dy.T, rows, dweight))
        return dx.view(x.shape), dweight, dy.sum(0) if ctx.biased else None


class _ByHeads(torch.autograd.Function):
    """x W_1^T, x W_2^T, .., each cut into heads: B N d -> B h N c each. As `_Linear`, several
    matrices at a time.
    """

    @staticmethod
    def forward(ctx, x, heads, *weights):
        ctx.save_for_backward(x, *weights)
        rows = x.flatten(0, -2)
        parts = [x.new_empty(len(rows), len(weight)) for weight in weights]
        multiply(
            *(Product(rows, weight.T, part) for weight, part in zip(weights, parts, strict=True))
        )
        widths = (part.size(1) // h for part, h in zip(parts, heads, strict=True))
        cut = (
            part.view(*x.shape[:2], h, width)
            for part, h, width in zip(parts, heads, widths, strict=True)
        )
        return tuple(part.transpose(1, 2) for part in cut)

    @staticmethod
    @no_double_backward
    def backward(ctx, *gradients):
        x, *weights = ctx.saved_tensors
        rows, products, dweights = (
            x.flatten(0, -2),
            [],
            [weight.new_empty(weight.shape) for weight in weights],
        )
        dx = rows.new_empty(rows.shape)
        for dy, weight, dweight in zip(gradients, weights, dweights, strict=True):
            dy = dy.transpose(1, 2).reshape(len(rows), len(weight))
            products += [Product(dy, weight, dx, add=bool(products)), Product(dy.T, rows, dweight)]
        multiply(*products)
        return dx.view(x.shape), None, *dweights


class _OfHeads(torch.autograd.Function):
    """The sum of what the heads say: y: B h T c -> y W^T: B T d."""

    @staticmethod
    def forward(ctx, y, weight):
        rows = y.transpose(1, 2).reshape(-1, weight.size(1))
        ctx.save_for_backward(rows, weight)
        ctx.shape = y.shape
        out = y.new_empty(len(rows), len(weight))
        multiply(Product(rows, weight.T, out))
        return out.view(y.size(0), y.size(2), len(weight))

    @staticmethod
    @no_double_backward
    def backward(ctx, dout):
        rows, weight = ctx.saved_tensors
        B, h, T, _ = ctx.shape
        dout = dout.reshape(len(rows), len(weight))
        drows, dweight = rows.new_empty(rows.shape), weight.new_empty(weight.shape)
        multiply(Product(dout, weight, drows), Product(dout.T, rows, dweight))
        return drows.view(B, T, h, rows.size(1) // h).transpose(1, 2), dweight


def compiles(x: Tensor) -> bool:
    """Return whether the compiled library computes products with x."""
    return (
        x.device.type == "cpu"
        and not torch.is_autocast_enabled("cpu")
        and build.obstacle(x.dtype) is None
    )


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute x W^T + b, as torch's, by products compiled for this machine where there is a
    compiler.
    """
    return _Linear.apply(x, weight, bias) if compiles(x) else nn.functional.linear(x, weight, bias)


def by_heads(x: Tensor, heads: tuple[int, ...], *weights: Tensor) -> tuple[Tensor, ...]:
    """Compute x W^T for several matrices, each cut into as many heads as `heads` says: B N d -> B h
    N c each.
    """
    if compiles(x):
        return _ByHeads.apply(x, heads, *weights)
    parts = (nn.functional.linear(x, weight) for weight in weights)
    return tuple(
        part.unflatten(-1, (h, -1)).transpose(1, 2) for part, h in zip(parts, heads, strict=True)
    )


def of_heads(y: Tensor, weight: Tensor) -> Tensor:
    """Put heads side by side and multiply by W^T: B h T c -> B T d."""
    if compiles(y):
        return _OfHeads.apply(y, weight)
    return nn.functional.linear(y.transpose(1, 2).flatten(2), weight)


class Linear(nn.Linear):
    """torch's linear layer, computed by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class _Normed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, weight, bias, epsilon):
        x, d = x.resolve_neg().contiguous(), x.size(-1)
        y = None if y is None else y.resolve_neg().contiguous()
        out, normal, inverse = x.new_empty(x.shape), x.new_empty(x.shape), x.new_empty(x.shape[:-1])
        inputs = _addresses(
            x.dtype, x=(x, x.shape), y=(y, x.shape), weight=(weight, (d,)), bias=(bias, (d,))
        )
        made = [P(each.data_ptr()) for each in (out, normal, inverse)]
        sizes, e = (I(inverse.numel()), I(d)), ctypes.c_double(epsilon)
        library(x.dtype).norm_forward(*sizes, *inputs, e, *made, I(threads()))
        ctx.save_for_backward(normal, inverse, weight)
        ctx.two = y is not None
        return out

    @staticmethod
    @no_double_backward
    def backward(ctx, dout):
        normal, inverse, weight = ctx.saved_tensors
        d, dout, parts = (
            len(weight),
            dout.resolve_neg().contiguous(),
            library(normal.dtype).norm_parts(),
        )
        ds, (dweight, dbias) = normal.new_empty(normal.shape), normal.new_zeros(2, parts, d)
        shape = (*inverse.shape, d)
        inputs = {
            "dout": (dout, shape),
            "normal": (normal, shape),
            "inverse": (inverse, shape[:-1]),
        }
        pointers = _addresses(normal.dtype, **inputs, weight=(weight, (d,)))
        pointers += [P(each.data_ptr()) for each in (ds, dweight, dbias)]
        library(normal.dtype).norm_backward(I(inverse.numel()), I(d), *pointers, I(threads()))
        return ds, ds if ctx.two else None, dweight[0], dbias[0], None


def _addresses(dtype: torch.dtype, **given: tuple[Tensor | None, tuple[int, ...]]) -> list[P]:
    """Return the addresses of tensors, each by its name and with its shape, all of one type and
    contiguous.
    """
    return [
        P(x if x is None else address_of_row(name, x, shape, dtype))
        for name, (x, shape) in given.items()
    ]


def add_and_norm(
    x: Tensor, y: Tensor | None, weight: Tensor, bias: Tensor, epsilon: float
) -> Tensor:
    """Compute the layer norm of x + y, .. d, with its weight and bias d; y None: of x alone."""
    return _Normed.apply(x, y, weight, bias, epsilon)
