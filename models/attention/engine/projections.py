"""Projections of queries, keys and values in training, for the compiled library: each head projects
what it sees.
"""

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
    """Project queries, x W_q^T, and keys and values, rows W_k^T and rows W_v^T; a head projects the
    last rows it sees.

    The last rows are the block's own: dW from all rows, dx from those alone.
    """

    @staticmethod
    def forward(ctx, x, queries, keys, values, rows, counts):
        ctx.save_for_backward(queries, keys, values)
        ctx.rows, ctx.own, ctx.counts = rows, x.shape, counts
        own, rows_of_heads, h = (
            rows[len(rows) - len(x) :].flatten(0, 1),
            sum(counts) * x.size(1),
            len(counts),
        )
        projected = [x.new_empty(len(own), len(queries))]
        products = [Product(own, queries.T, projected[0])]
        for weight in (keys, values):
            projected.append(x.new_empty(rows_of_heads * len(weight) // h))
            parts = _by_head(weight, projected[-1], rows, counts)
            products += [Product(seen, matrix.T, part) for seen, matrix, part in parts]
        multiply(*products)
        return tuple(projected)

    @staticmethod
    @no_double_backward
    def backward(ctx, dq, *gradients):
        rows, counts, own = ctx.rows, ctx.counts, ctx.own[0] * ctx.own[1]
        queries, *weights = ctx.saved_tensors
        dx, dqueries, dweights = dq.new_empty(own, ctx.own[2]), queries.new_empty(queries.shape), []
        products = [Product(dq, queries, dx), Product(dq.T, rows.flatten(0, 1)[-own:], dqueries)]
        for weight, gradient in zip(weights, gradients, strict=True):
            dweights.append(weight.new_empty(weight.shape))
            dmatrices = (matrix for _, matrix, _ in _by_head(dweights[-1], gradient, rows, counts))
            for dmatrix, (seen, matrix, part) in zip(
                dmatrices, _by_head(weight, gradient, rows, counts), strict=True
            ):
                products.append(Product(part[len(part) - own :], matrix, dx, add=True))
                products.append(Product(part.T, seen, dmatrix))
        multiply(*products)
        return dx.view(ctx.own), dqueries, *dweights, None, None


def _by_head(weight: Tensor, projected: Tensor, rows: Tensor, counts: tuple[int, ...]):
    """Yield for each head the rows that it sees, its weights and their product; once where all
    heads see alike.
    """
    h = 1 if len(set(counts)) == 1 else len(counts)
    B, width, start = rows.size(1), len(weight) // h, 0
    for head, count in enumerate(counts[:h]):
        size = count * B * width
        yield (
            rows[len(rows) - count :].flatten(0, 1),
            weight[head * width : (head + 1) * width],
            projected[start : start + size].view(count * B, width),
        )
        start += size


def project_by_head(
    x: Tensor, layer, rows: Tensor, counts: tuple[int, ...]
) -> tuple[Tensor, Tensor, Tensor]:
    """Project queries B h T dk from x: T B d, and for head i keys and values from the last
    counts[i] of rows: K B d.

    Keys and values are numbers in a row, laid out as `by_head` says; keys are turned by the
    position.
    """
    matrices, shape = (
        (linear.weight for linear in (layer.query, layer.key, layer.value)),
        layer.shape,
    )
    of_keys, turn = counts[:: shape.sharing], layer.position.turn
    q, k, v = _ProjectedByHead.apply(x, *matrices, rows, of_keys)
    parts = _rows_by_head(k, of_keys, x.size(1), shape.d_k)
    turned = [
        turn(part, torch.arange(len(rows) - len(part), len(rows))[:, None, None]) for part in parts
    ]
    if turned[0] is not parts[0]:
        k = torch.cat([part.flatten() for part in turned])
    if shape.sharing > 1:
        k, v = (
            _shared(each, shape, of_keys, x.size(1), width)
            for each, width in ((k, shape.d_k), (v, shape.d_v))
        )
    return q.view(*x.shape[:2], len(counts), -1).permute(1, 2, 0, 3), k, v


def _rows_by_head(x: Tensor, counts: tuple[int, ...], B: int, width: int) -> list[Tensor]:
    """View keys or values as K B g d: each head's own, or those of all heads where they see
    alike.
    """
    if len(set(counts)) == 1:
        return [x.view(counts[0], B, -1, width)]
    return list(x.view(-1, B, 1, width).split(counts))


def _shared(x: Tensor, shape: Shape, counts: tuple[int, ...], B: int, width: int) -> Tensor:
    """Repeat keys or values for the heads of queries that share them."""
    parts = _rows_by_head(x, counts, B, width)
    if len(parts) == 1:
        return for_all_heads(parts[0], shape, 2).flatten()
    return torch.cat([part.flatten() for part in parts for _ in range(shape.sharing)])


@lru_cache(maxsize=4096)
def by_head(counts: tuple[int, ...], B: int, width: int) -> Layout:
    """Describe how keys or values of `width` numbers lie in what `project_by_head` gives, rows of
    time first.
    """
    h, starts = len(counts), (0, *accumulate(counts))
    if len(set(counts)) == 1:
        return Layout(
            width, tuple(range(0, h * width, width)), (h * width,) * h, (B * h * width,) * h
        )
    return Layout(
        width, tuple(start * B * width for start in starts[:h]), (width,) * h, (B * width,) * h
    )
