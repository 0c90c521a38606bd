"""Queries, keys and values of a layer in training by the compiled products, without gradient into the past."""

from functools import lru_cache
from itertools import accumulate

import torch
from torch import Tensor

from models.kernels.compiled.attention import Layout
from models.kernels.compiled.dense import Product, multiply
from models.kernels.no_double_backward import no_double_backward


class _ProjectedByHead(torch.autograd.Function):
    """Queries of x W_q^T; rows W_k^T and rows W_v^T, every head of as many of the last rows as it sees.

    The last rows are the block's own: dW from all rows, dx from those alone.
    """

    @staticmethod
    def forward(ctx, x, queries, keys, values, rows, counts):
        ctx.save_for_backward(queries, keys, values)
        ctx.rows, ctx.own, ctx.counts = rows, x.shape, counts
        own, rows_of_heads, h = rows[len(rows) - len(x) :].flatten(0, 1), sum(counts) * x.size(1), len(counts)
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
        dx, dqueries, dweights = dq.new_empty(own, ctx.own[2]), torch.empty_like(queries), []
        products = [Product(dq, queries, dx), Product(dq.T, rows.flatten(0, 1)[-own:], dqueries)]
        for weight, gradient in zip(weights, gradients, strict=True):
            dweights.append(torch.empty_like(weight))
            dmatrices = (matrix for _, matrix, _ in _by_head(dweights[-1], gradient, rows, counts))
            for dmatrix, (seen, matrix, part) in zip(dmatrices, _by_head(weight, gradient, rows, counts), strict=True):
                products.append(Product(part[len(part) - own :], matrix, dx, add=True))
                products.append(Product(part.T, seen, dmatrix))
        multiply(*products)
        return dx.view(ctx.own), dqueries, *dweights, None, None


def _by_head(weight: Tensor, projected: Tensor, rows: Tensor, counts: tuple[int, ...]):
    """For each head the rows that it sees, its matrix, and what they give, a matrix each; one where all see alike."""
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


def project_by_head(x: Tensor, layer, rows: Tensor, counts: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Queries B h T dk of x: T B d, and keys and values of the last counts[i] of rows: K B d for head i.

    Keys and values are numbers in a row, laid out as `by_head` says.
    """
    matrices = (linear.weight for linear in (layer.query, layer.key, layer.value))
    q, k, v = _ProjectedByHead.apply(x, *matrices, rows, counts)
    return q.view(*x.shape[:2], len(counts), -1).permute(1, 2, 0, 3), k, v


@lru_cache(maxsize=4096)
def by_head(counts: tuple[int, ...], B: int, width: int) -> Layout:
    """How keys or values of `width` numbers lie in what `project_by_head` gives, rows of time first."""
    h, starts = len(counts), (0, *accumulate(counts))
    if len(set(counts)) == 1:
        return Layout(width, tuple(range(0, h * width, width)), (h * width,) * h, (B * h * width,) * h)
    return Layout(width, tuple(start * B * width for start in starts[:h]), (width,) * h, (B * width,) * h)
