"""Projections of queries, keys and values in training, for the compiled library: each head projects
what it sees.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

import torch
from torch import Tensor

from ...kernels.compiled.attention import Layout
from ...kernels.compiled.dense import Product, multiply
from ...kernels.no_double_backward import no_double_backward
from ..choice import Shape
from ..variant import for_all_heads


class _ProjectedByHead(torch.autograd.Function):
    """Project queries, x W_q^T, and keys and values, rows W_k^T and rows W_v^T.

    A head projects the last rows that it sees. The last rows are the block's own: dW comes from all
    rows, dx from those alone.
    """

    @staticmethod
    def forward(ctx, x, queries, keys, values, rows, counts):
        ctx.save_for_backward(queries, keys, values)
        # Not saved by autograd, which would refuse a buffer that later blocks are appended to.
        ctx.rows = rows
        ctx.shape = x.shape
        ctx.counts = counts
        T, B, _ = x.shape
        own = rows[len(rows) - T :].flatten(0, 1)  # T B d -> TB d
        q = x.new_empty(len(own), len(queries))
        projected = [q]
        products = [Product(own, queries.T, q)]
        # Keys of all heads together, of different counts: numbers in one row.
        rows_of_heads = sum(counts) * B
        for weight in (keys, values):
            width = len(weight) // len(counts)
            numbers = x.new_empty(rows_of_heads * width)
            projected.append(numbers)
            for seen, matrix, part in _by_head(weight, numbers, rows, counts):
                product = Product(seen, matrix.T, part)
                products.append(product)
        multiply(*products)
        return tuple(projected)

    @staticmethod
    @no_double_backward
    def backward(ctx, dq, *gradients):
        queries, *weights = ctx.saved_tensors
        rows = ctx.rows
        T, B, d_model = ctx.shape
        own = T * B
        x = rows.flatten(0, 1)[-own:]  # TB d
        dx = dq.new_empty(own, d_model)
        dqueries = queries.new_empty(queries.shape)
        # dx begins with the part of the queries; keys and values add theirs.
        products = [
            Product(dq, queries, dx),
            Product(dq.T, x, dqueries),
        ]
        dweights = []
        for weight, gradient in zip(weights, gradients, strict=True):
            dweight = weight.new_empty(weight.shape)
            dweights.append(dweight)
            of_heads = zip(
                _by_head(weight, gradient, rows, ctx.counts),
                _by_head(dweight, gradient, rows, ctx.counts),
                strict=True,
            )
            for (seen, matrix, part), (_, dmatrix, _) in of_heads:
                # No gradient goes into the past: its rows add nothing to dx.
                of_block = part[len(part) - own :]
                to_x = Product(of_block, matrix, dx, add=True)
                to_weight = Product(part.T, seen, dmatrix)
                products += [to_x, to_weight]
        multiply(*products)
        return dx.view(ctx.shape), dqueries, *dweights, None, None


def _by_head(
    weight: Tensor,
    projected: Tensor,
    rows: Tensor,
    counts: tuple[int, ...],
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield for each head the rows that it sees, its weights and their product.

    Once for all heads where all see alike.
    """
    # Where counts are equal, one product does for all heads.
    h = 1 if len(set(counts)) == 1 else len(counts)
    B = rows.size(1)
    matrices = weight.chunk(h)
    width = len(weight) // h
    start = 0
    for matrix, count in zip(matrices, counts, strict=False):
        last_rows = rows[len(rows) - count :]
        seen = last_rows.flatten(0, 1)  # count B d -> (count B) d
        stop = start + count * B * width
        part = projected[start:stop].view(count * B, width)
        yield seen, matrix, part
        start = stop


def project_by_head(
    x: Tensor,
    layer,
    rows: Tensor,
    counts: tuple[int, ...],
) -> tuple[Tensor, Tensor, Tensor]:
    """Project queries from x: T B d, and keys and values from rows: K B d -> q, k, v.

    q: B h T dk. k, v: numbers in a row, laid out as `by_head` says, head i's from the last
    counts[i] rows; keys are turned by the position.
    """
    shape = layer.shape
    weights = (layer.query.weight, layer.key.weight, layer.value.weight)
    # Counts of the heads of keys: those that share them have the same.
    of_keys = counts[:: shape.sharing]
    q, k, v = _ProjectedByHead.apply(x, *weights, rows, of_keys)
    T, B, _ = x.shape
    K = len(rows)
    k = _turned(k, layer, of_keys, B, K)
    if shape.sharing > 1:
        k = _shared(k, shape, of_keys, B, shape.d_k)
        v = _shared(v, shape, of_keys, B, shape.d_v)
    by_head = q.view(T, B, len(counts), -1)
    return by_head.permute(1, 2, 0, 3), k, v


def _turned(
    k: Tensor,
    layer,
    counts: tuple[int, ...],
    B: int,
    K: int,
) -> Tensor:
    """Let the position turn keys by their places; nothing is copied where it does not turn them."""
    parts = _rows_by_head(k, counts, B, layer.shape.d_k)
    turned = []
    for part in parts:
        # The places of the last rows: K 1 1, for K B g dk.
        place = torch.arange(K - len(part), K)[:, None, None]
        turned.append(layer.position.turn(part, place))
    turns_nothing = turned[0] is parts[0]
    if turns_nothing:
        return k
    in_rows = [part.flatten() for part in turned]
    return torch.cat(in_rows)


def _rows_by_head(x: Tensor, counts: tuple[int, ...], B: int, width: int) -> list[Tensor]:
    """View keys or values as K B g d: each head's own, or those of all where they see alike."""
    if len(set(counts)) == 1:
        return [x.view(counts[0], B, -1, width)]
    return list(x.view(-1, B, 1, width).split(counts))


def _shared(
    x: Tensor,
    shape: Shape,
    counts: tuple[int, ...],
    B: int,
    width: int,
) -> Tensor:
    """Repeat keys or values for the heads of queries that share them."""
    parts = _rows_by_head(x, counts, B, width)
    if len(parts) == 1:
        of_queries = for_all_heads(parts[0], shape, 2)
        return of_queries.flatten()
    repeated = []
    for part in parts:
        repeated += shape.sharing * [part.flatten()]
    return torch.cat(repeated)


@lru_cache(maxsize=4096)
def by_head(counts: tuple[int, ...], B: int, width: int) -> Layout:
    """Describe how keys or values of `width` numbers lie in what `project_by_head` gives.

    Rows of time come first.
    """
    h = len(counts)
    if len(set(counts)) == 1:  # K B h d: heads next to one another
        numbers = h * width
        first = tuple(range(0, numbers, width))
    else:  # the K_i B d of one head after those of another
        numbers = width
        starts = (0, *accumulate(counts))
        first = tuple(start * B * width for start in starts[:h])
    # numbers: of a stream in one row of time.
    return Layout(
        width=width,
        first=first,
        stream=(numbers,) * h,
        row=(B * numbers,) * h,
    )
