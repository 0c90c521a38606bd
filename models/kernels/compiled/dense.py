"""Products and layer norms in C: see dense.c and layers.c. Several products at a time, so that
Python is asked once.
"""

import ctypes
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..no_double_backward import no_double_backward
from . import build
from .attention import I, P, fields
from .build import library, threads
from .memory import address_of_row


class DenseStruct(ctypes.Structure):
    """The struct `dense` of dense.c."""

    _fields_ = [
        *fields(I, "m", "n", "k"),
        *fields(P, "a"),
        *fields(I, "a_row", "a_col"),
        *fields(P, "b"),
        *fields(I, "b_row", "b_col"),
        *fields(P, "c"),
        *fields(I, "c_row", "add", "relu"),
        *fields(P, "bias"),
    ]


class Product(NamedTuple):
    """c (+)= a b + bias, or max(0, .) of it.

    a: m k and b: k n of any strides, c: m n with contiguous rows, bias: n.
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
    dtype = products[0].c.dtype
    calls = (DenseStruct * len(products))()
    kept = []  # copies that C reads: alive until it returns
    for call, product in zip(calls, products, strict=True):
        _check_product(product, dtype)
        # Signs that torch has not written yet.
        a = product.a.resolve_neg()
        b = product.b.resolve_neg()
        # C reads rows or columns of b, one of them contiguous.
        if 1 not in b.stride():
            b = b.contiguous()
        kept += [a, b]
        c = product.c
        call.m, call.k = a.shape
        call.n = b.size(1)
        call.a = a.data_ptr()
        call.a_row, call.a_col = a.stride()
        call.b = b.data_ptr()
        call.b_row, call.b_col = b.stride()
        call.c = c.data_ptr()
        call.c_row = c.stride(0)
        call.add = product.add
        call.relu = product.relu
        if product.bias is not None:
            call.bias = address_of_row("a bias", product.bias, (b.size(1),), dtype)
    count = I(len(products))
    library(dtype).multiply(calls, count, I(threads()))


def _check_product(product: Product, dtype: torch.dtype) -> None:
    """Raise ValueError for sizes, types and strides with which C would leave the memory."""
    a, b, c, *_ = product
    m, k = a.shape
    n = b.size(1)
    on_cpu = a.is_cpu and b.is_cpu and c.is_cpu
    alike = a.dtype == b.dtype == c.dtype == dtype
    sizes_fit = b.size(0) == k and c.shape == (m, n)
    if not (on_cpu and alike and sizes_fit):
        shapes = ", ".join(f"{tuple(x.shape)} {x.dtype} on {x.device}" for x in (a, b, c))
        raise ValueError(f"cannot multiply these: {shapes}")
    row, column = c.stride()
    # An axis of one has no stride that matters.
    contiguous = column == 1 or n <= 1
    apart = row >= n or m <= 1
    if not (contiguous and apart):
        raise ValueError(
            f"rows of a product must be contiguous and share no number; strides {c.stride()}"
        )


class _Linear(torch.autograd.Function):
    """x W^T + b; dx = dy W, dW = dy^T x, db = sum dy."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.biased = bias is not None
        rows = x.flatten(0, -2)  # n d
        width = len(weight)
        y = x.new_empty(len(rows), width)
        product = Product(rows, weight.T, y, bias=bias)
        multiply(product)
        return y.view(*x.shape[:-1], width)

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        rows = x.flatten(0, -2)
        # An expanded gradient, as of a sum, has strides of 0: copied, for C reads rows.
        dy = dy.reshape(-1, dy.size(-1))
        dx = rows.new_empty(rows.shape)
        dweight = weight.new_empty(weight.shape)
        multiply(
            Product(dy, weight, dx),
            Product(dy.T, rows, dweight),
        )
        dbias = dy.sum(0) if ctx.biased else None
        return dx.view(x.shape), dweight, dbias


class _ByHeads(torch.autograd.Function):
    """x W_1^T, x W_2^T, .., each cut into heads: B N d -> B h N c each.

    As `_Linear`, several matrices at a time.
    """

    @staticmethod
    def forward(ctx, x, heads, *weights):
        ctx.save_for_backward(x, *weights)
        rows = x.flatten(0, -2)  # BN d
        B, N, _ = x.shape
        products = []
        cut = []
        for weight, h in zip(weights, heads, strict=True):
            y = x.new_empty(len(rows), len(weight))
            products.append(Product(rows, weight.T, y))
            by_head = y.view(B, N, h, -1)
            cut.append(by_head.transpose(1, 2))
        multiply(*products)
        return tuple(cut)

    @staticmethod
    @no_double_backward
    def backward(ctx, *gradients):
        x, *weights = ctx.saved_tensors
        rows = x.flatten(0, -2)
        dx = rows.new_empty(rows.shape)
        products = []
        dweights = []
        for dy, weight in zip(gradients, weights, strict=True):
            dy = dy.transpose(1, 2)  # B N h c
            dy = dy.reshape(len(rows), len(weight))
            dweight = weight.new_empty(weight.shape)
            dweights.append(dweight)
            # The first product overwrites dx, the others are added to it.
            is_first = not products
            to_x = Product(dy, weight, dx, add=not is_first)
            to_weight = Product(dy.T, rows, dweight)
            products += [to_x, to_weight]
        multiply(*products)
        return dx.view(x.shape), None, *dweights


class _OfHeads(torch.autograd.Function):
    """The projection of the outputs of all heads: y: B h T c -> y W^T: B T d."""

    @staticmethod
    def forward(ctx, y, weight):
        B, _, T, _ = y.shape
        by_time = y.transpose(1, 2)  # B T h c
        rows = by_time.reshape(-1, weight.size(1))  # BT hc
        ctx.save_for_backward(rows, weight)
        ctx.shape = y.shape
        out = y.new_empty(len(rows), len(weight))
        product = Product(rows, weight.T, out)
        multiply(product)
        return out.view(B, T, len(weight))

    @staticmethod
    @no_double_backward
    def backward(ctx, dout):
        rows, weight = ctx.saved_tensors
        B, h, T, width = ctx.shape
        dout = dout.reshape(len(rows), len(weight))
        drows = rows.new_empty(rows.shape)
        dweight = weight.new_empty(weight.shape)
        multiply(
            Product(dout, weight, drows),
            Product(dout.T, rows, dweight),
        )
        by_time = drows.view(B, T, h, width)
        return by_time.transpose(1, 2), dweight


def compiles(x: Tensor) -> bool:
    """Return whether the compiled library computes products with x."""
    return (
        x.device.type == "cpu"
        and not torch.compiler.is_compiling()  # a graph holds operators of torch alone
        and not torch.is_autocast_enabled("cpu")
        and build.obstacle(x.dtype) is None
    )


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute x W^T + b, as torch does, by the compiled library where there is a compiler."""
    if compiles(x):
        return _Linear.apply(x, weight, bias)
    return nn.functional.linear(x, weight, bias)


def by_heads(x: Tensor, heads: tuple[int, ...], *weights: Tensor) -> tuple[Tensor, ...]:
    """Compute x W^T for several matrices: B N d -> B h N c each, cut into `heads` of each."""
    if compiles(x):
        return _ByHeads.apply(x, heads, *weights)
    cut = []
    for weight, h in zip(weights, heads, strict=True):
        y = nn.functional.linear(x, weight)
        by_head = y.unflatten(-1, (h, -1))
        cut.append(by_head.transpose(1, 2))
    return tuple(cut)


def of_heads(y: Tensor, weight: Tensor) -> Tensor:
    """Put heads next to one another and multiply by W^T: B h T c -> B T d."""
    if compiles(y):
        return _OfHeads.apply(y, weight)
    rows = y.transpose(1, 2).flatten(2)
    return nn.functional.linear(rows, weight)


class Linear(nn.Linear):
    """torch's linear layer, computed by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class _Normed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, weight, bias, epsilon):
        x = x.resolve_neg().contiguous()
        if y is not None:
            y = y.resolve_neg().contiguous()
        d = x.size(-1)
        out = x.new_empty(x.shape)
        normal = x.new_empty(x.shape)  # the sum, with mean 0 and variance 1
        inverse = x.new_empty(x.shape[:-1])  # of the standard deviation
        library(x.dtype).norm_forward(
            I(inverse.numel()),
            I(d),
            _address("x", x, x.shape, x.dtype),
            _address("y", y, x.shape, x.dtype),
            _address("weight", weight, (d,), x.dtype),
            _address("bias", bias, (d,), x.dtype),
            ctypes.c_double(epsilon),
            P(out.data_ptr()),
            P(normal.data_ptr()),
            P(inverse.data_ptr()),
            I(threads()),
        )
        ctx.save_for_backward(normal, inverse, weight)
        ctx.two = y is not None
        return out

    @staticmethod
    @no_double_backward
    def backward(ctx, dout):
        normal, inverse, weight = ctx.saved_tensors
        dtype = normal.dtype
        functions = library(dtype)
        d = len(weight)
        shape = (*inverse.shape, d)
        dout = dout.resolve_neg().contiguous()
        ds = normal.new_empty(normal.shape)
        # C adds up rows in parts, a number of parts that no machine changes, and the parts into the
        # first: sums have the same order everywhere.
        parts = functions.norm_parts()
        dweight, dbias = normal.new_zeros(2, parts, d)
        functions.norm_backward(
            I(inverse.numel()),
            I(d),
            _address("dout", dout, shape, dtype),
            _address("normal", normal, shape, dtype),
            _address("inverse", inverse, shape[:-1], dtype),
            _address("weight", weight, (d,), dtype),
            P(ds.data_ptr()),
            P(dweight.data_ptr()),
            P(dbias.data_ptr()),
            I(threads()),
        )
        # x and y enter as a sum: both have its gradient.
        dy = ds if ctx.two else None
        return ds, dy, dweight[0], dbias[0], None


def _address(name: str, x: Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> P:
    """Return the address of a contiguous tensor of this shape and type; no address of None."""
    if x is None:
        return P(None)
    return P(address_of_row(name, x, shape, dtype))


def add_and_norm(
    x: Tensor, y: Tensor | None, weight: Tensor, bias: Tensor, epsilon: float
) -> Tensor:
    """Compute the layer norm of x + y, .. d, with its weight and bias d; y None: of x alone."""
    return _Normed.apply(x, y, weight, bias, epsilon)
