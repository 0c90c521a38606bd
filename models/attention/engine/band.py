"""Attention of some heads over a band of keys, forward and back by hand.

    s = q k^T + r p^T     content, and place by distance; a column of r p^T per x = W .. 1
    P = rows(s)           mask, select, normalise
    y = P v

    dv = P^T dy    dP = dy v^T    ds = rows'(dP)
    dq = ds k      dk = ds^T q    dr = ds p    dp = r^T ds

What autograd would do is the same; by hand the scores of a chunk are made in reused memory, nothing is copied to skew
them, and either the weights are kept for the way back or they are computed again.
"""

import torch
from torch import Tensor

from models.attention.engine.chunks import Chunk, band
from models.attention.engine.head_groups import SCRATCH, HeadGroup, chunk_extent
from models.attention.engine.rows import rows_for
from models.kernels.no_double_backward import once


def scores(chunk: Chunk, q: Tensor, r: Tensor | None, k: Tensor, position_keys: Tensor | None, out: Tensor) -> Tensor:
    """s of one chunk into `out`, n c (W + c - 1); columns off the band hold what nobody may see."""
    q, k = chunk.of_queries(q), chunk.of_keys(k).transpose(1, 2)
    if chunk.missing:
        out[..., : chunk.missing] = 0.0
        out[..., chunk.missing :] = q @ k
    else:
        torch.bmm(q, k, out=out)
    if position_keys is not None:
        r, position_keys = chunk.of_queries(r), position_keys[..., -chunk.window :]
        if position_keys.dim() == 2:
            place = SCRATCH.take("place", (*r.shape[:2], chunk.window), r)
            torch.mm(r.flatten(0, 1), position_keys, out=place.flatten(0, 1))
            band(out, chunk.window).add_(place)
        else:
            chunk.by_head(band(out, chunk.window)).add_(chunk.by_head(r) @ position_keys)
    return out


def forward(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters) -> tuple[Tensor, list]:
    """y: B g T dv, and for each chunk (weights, what rows keep) or None."""
    B, g, T, _ = q.shape
    rows, y, stored = rows_for(bucket), q.new_zeros(B, T, g, v.size(-1)).transpose(1, 2), []
    for number, chunk in enumerate(bucket.chunks(q, k)):
        P = q.new_empty(chunk.shape(g)) if bucket.keep else SCRATCH.take("scores", chunk.shape(g), q)
        scores(chunk, q, r, k, position_keys, P)
        left = rows.forward(P, chunk, chunk_extent(z, chunk), parameters)
        stored.append((P, left) if bucket.keep else None)
        factors = bucket.factors(number, P)
        used = P if factors is None else P * factors
        y[chunk.streams, :, chunk.queries] = chunk.by_head(torch.bmm(used[..., chunk.missing :], chunk.of_keys(v)))
    return y, stored


class _Banded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, bucket, q, r, k, v, position_keys, z, *parameters):
        y, stored = forward(bucket, q, r, k, v, position_keys, z, parameters)
        ctx.bucket, ctx.count = bucket, len(parameters)
        ctx.left = [None if one is None else one[1] for one in stored]
        kept = [one[0] for one in stored if one is not None]
        ctx.save_for_backward(q, r, k, v, position_keys, z, *parameters, *kept)  # freed with the graph
        return y

    @staticmethod
    @once
    def backward(ctx, dy):
        q, r, k, v, position_keys, z, *others = ctx.saved_tensors
        parameters, kept = others[: ctx.count], iter(others[ctx.count :])
        back = Backward(ctx.bucket, q, r, k, v, position_keys, z, parameters)
        for number, (chunk, left) in enumerate(zip(ctx.bucket.chunks(q, k), ctx.left, strict=True)):
            back.chunk(number, chunk, (next(kept), left) if ctx.bucket.keep else None, dy)
        return None, back.dq, back.dr, back.dk, back.dv, back.dposition_keys, back.dz, *back.dparameters


class Backward:
    """Gradients of a bucket, gathered chunk by chunk."""

    def __init__(self, bucket: HeadGroup, q, r, k, v, position_keys, z, parameters):
        self.bucket, self.rows, self.parameters = bucket, rows_for(bucket), parameters
        self.q, self.r, self.k, self.v, self.position_keys, self.z = q, r, k, v, position_keys, z
        self.dq, self.dk, self.dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        self.dr, self.dposition_keys, self.dz = (
            None if one is None else torch.zeros_like(one) for one in (r, position_keys, z)
        )
        self.dparameters = [torch.zeros_like(one) for one in parameters]

    def chunk(self, number: int, chunk: Chunk, stored, dy: Tensor) -> None:
        z = chunk_extent(self.z, chunk)
        if stored is None:
            P = SCRATCH.take("scores", chunk.shape(self.bucket.heads), self.q)
            scores(chunk, self.q, self.r, self.k, self.position_keys, P)
            left = self.rows.forward(P, chunk, z, self.parameters)
        else:
            P, left = stored
        factors = self.bucket.factors(number, P)
        used = P if factors is None else P * factors
        dy, dP = chunk.of_queries(dy), SCRATCH.take("gradient", P.shape, P)
        self._add_to_keys(chunk, self.dv, used[..., chunk.missing :], dy)
        self._weights(chunk, dy, dP)
        if factors is not None:
            dP.mul_(factors)
        self._add_to_choices(chunk, self.rows.backward(left, P, dP, chunk, z, self.parameters))
        self._through_products(chunk, dP)

    def _weights(self, chunk: Chunk, dy: Tensor, dP: Tensor) -> None:
        """dP = dy v^T, in place."""
        v, missing = chunk.of_keys(self.v).transpose(1, 2), chunk.missing
        if missing:
            dP[..., :missing] = 0.0
            dP[..., missing:] = dy @ v
        else:
            torch.bmm(dy, v, out=dP)

    def _through_products(self, chunk: Chunk, ds: Tensor) -> None:
        """ds of a chunk to q, k, r and the places."""
        self.dq[chunk.streams, :, chunk.queries] = chunk.by_head(ds[..., chunk.missing :] @ chunk.of_keys(self.k))
        self._add_to_keys(chunk, self.dk, ds[..., chunk.missing :], chunk.of_queries(self.q))
        if self.position_keys is None:
            return
        W, r = chunk.window, chunk.of_queries(self.r)
        position_keys, dposition_keys = self.position_keys[..., -W:], self.dposition_keys[..., -W:]
        ds = SCRATCH.take("scores", (*ds.shape[:2], W), ds).copy_(band(ds, W))
        self.dr[chunk.streams, :, chunk.queries] = chunk.by_head(ds) @ position_keys.transpose(-1, -2)
        if position_keys.dim() == 2:
            dposition_keys.addmm_(r.flatten(0, 1).T, ds.flatten(0, 1))
        else:
            dposition_keys += chunk.by_head(r.transpose(1, 2) @ ds).sum(0)

    def _add_to_keys(self, chunk: Chunk, to: Tensor, weights: Tensor, queries: Tensor) -> None:
        """weights^T queries, n k d, onto the chunk's keys of `to`."""
        shape = (len(weights), weights.size(-1), queries.size(-1))
        made = torch.bmm(weights.transpose(1, 2), queries, out=SCRATCH.take("keys", shape, queries))
        chunk.of_keys(to).add_(made)

    def _add_to_choices(self, chunk: Chunk, found: list) -> None:
        """Gradients of one chunk in z and the choices' parameters."""
        dz, *others = found
        if dz is not None and dz.dim() == 4:
            self.dz[chunk.streams, :, chunk.queries] = dz
        elif dz is not None:
            self.dz += dz
        for one, other in zip(self.dparameters, others, strict=False):
            one += other if other is not None else 0.0


def attend_band(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """q, r: B g T dk, over sqrt(dk), r None without places; k: K B g dk and v: K B g dv, contiguous, the last T the
    block's own; places: dk W or g dk W, W at least the bucket's reach, the last column x = 1; z: the span's extent.
    Gives B g T dv.
    """
    if torch.is_grad_enabled():
        return _Banded.apply(bucket, q, r, k, v, position_keys, z, *parameters)
    return forward(bucket, q, r, k, v, position_keys, z, parameters)[0]
