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
        ctx.rows = rows
        ctx.shape = x.shape
        ctx.counts = counts
        own = rows[len(rows) - len(x) :].flatten(0, 1)  # T B d -> TB d
        # Keys of all heads together, of different counts: numbers in one row.
        rows_of_heads = sum(counts) * x.size(1)
        q = x.new_empty(len(own), len(queries))
        projected = [q]
        products = [Product(own, queries.T, q)]
        for weight in (keys, values):
            width = len(weight) // len(counts)
            numbers = x.new_empty(rows_of_heads * width)
            projected.append(numbers)
            for seen, matrix, part in _by_head(weight, numbers, rows, counts):
                products.append(Product(seen, matrix.T, part))
        multiply(*products)
        return tuple(projected)

    @staticmethod
    @no_double_backward
    def backward(ctx, dq, *gradients):
        queries, *weights = ctx.saved_tensors
        rows = ctx.rows
        T, B, d_model = ctx.shape
        own = T * B
        dx = dq.new_empty(own, d_model)
        dqueries = queries.new_empty(queries.shape)
        # dx begins with the part of the queries; keys and values add theirs.
        products = [
            Product(dq, queries, dx),
            Product(dq.T, rows.flatten(0, 1)[-own:], dqueries),
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
                of_block = part[len(part) - own :]
                products.append(Product(of_block, matrix, dx, add=True))
                products.append(Product(part.T, seen, dmatrix))
        multiply(*products)
        return dx.view(ctx.shape), dqueries, *dweights, None, None


def _by_head(
    weight: Tensor, projected: Tensor, rows: Tensor, counts: tuple[int, ...]
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield for each head the rows that it sees, its weights and their product.

    Once for all heads where all see alike.
    """
    # Where counts are equal, one product does for all heads.
    h = 1 if len(set(counts)) == 1 else len(counts)
    B = rows.size(1)
    width = len(weight) // h
    start = 0
    for head, count in enumerate(counts[:h]):
        seen = rows[len(rows) - count :].flatten(0, 1)
        matrix = weight[head * width : (head + 1) * width]
        stop = start + count * B * width
        part = projected[start:stop].view(count * B, width)
        yield seen, matrix, part
        start = stop


def project_by_head(
    x: Tensor, layer, rows: Tensor, counts: tuple[int, ...]
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
    k = _turned(k, layer, of_keys, B, len(rows))
    if shape.sharing > 1:
        k = _shared(k, shape, of_keys, B, shape.d_k)
        v = _shared(v, shape, of_keys, B, shape.d_v)
    q = q.view(T, B, len(counts), -1)
    return q.permute(1, 2, 0, 3), k, v


def _turned(k: Tensor, layer, counts: tuple[int, ...], B: int, K: int) -> Tensor:
    """Let the position turn keys by their places; nothing is copied where it does not turn them."""
    parts = _rows_by_head(k, counts, B, layer.shape.d_k)
    turned = []
    for part in parts:
        place = torch.arange(K - len(part), K)
        turned.append(layer.position.turn(part, place[:, None, None]))
    if turned[0] is parts[0]:
        return k
    return torch.cat([part.flatten() for part in turned])


def _rows_by_head(x: Tensor, counts: tuple[int, ...], B: int, width: int) -> list[Tensor]:
    """View keys or values as K B g d: each head's own, or those of all where they see alike."""
    if len(set(counts)) == 1:
        return [x.view(counts[0], B, -1, width)]
    return list(x.view(-1, B, 1, width).split(counts))


def _shared(x: Tensor, shape: Shape, counts: tuple[int, ...], B: int, width: int) -> Tensor:
    """Repeat keys or values for the heads of queries that share them."""
    parts = _rows_by_head(x, counts, B, width)
    if len(parts) == 1:
        return for_all_heads(parts[0], shape, 2).flatten()
    repeated = [part.flatten() for part in parts for _ in range(shape.sharing)]
    return torch.cat(repeated)


@lru_cache(maxsize=4096)
def by_head(counts: tuple[int, ...], B: int, width: int) -> Layout:
    """Describe how keys or values of `width` numbers lie in what `project_by_head` gives.

    Rows of time come first.
    """
    h = len(counts)
    if len(set(counts)) == 1:  # K B h d: heads next to one another
        row = h * width
        first = tuple(range(0, row, width))
        return Layout(width, first, stream=(row,) * h, row=(B * row,) * h)
    # the K_i B d of one head after those of another
    starts = (0, *accumulate(counts))
    first = tuple(start * B * width for start in starts[:h])
    return Layout(width, first, stream=(width,) * h, row=(B * width,) * h)
