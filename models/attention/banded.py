"""Attention of some heads over a band of keys, forward and back by hand.

    s = q k^T + r p^T     content, and place by distance; a column of r p^T per x = W .. 1
    P = rows(s)           mask, select, normalise
    y = P v

    dv = P^T dy    dP = dy v^T    ds = rows'(dP)
    dq = ds k      dk = ds^T q    dr = ds p    dp = r^T ds

What autograd would do is the same; by hand the scores of a chunk are made in reused memory, nothing is copied to skew
them, and either the weights are kept for the way back or they are computed again.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from models.attention.chunks import Chunk, band, chunks


@dataclass(frozen=True)
class Bucket:
    """Heads that are computed together: as far as the farthest-seeing reaches.

    rows: how scores become weights. drop: dropout on the weights. keep: whether weights are kept for the way back.
    """

    heads: int
    reach: int
    rows: object
    attends_self: bool
    drop: float
    keep: bool

    def chunks(self, q: Tensor, k: Tensor):
        B, g, T, _ = q.shape
        return chunks(T, len(k), B, g, self.reach, self.attends_self, q.element_size())


class _Scratch:
    """Memory for the scores of one chunk, reused by all: a fresh page costs ten times a used one."""

    def __init__(self):
        self.pieces: dict = {}

    def take(self, name: str, shape: tuple, like: Tensor) -> Tensor:
        size = torch.Size(shape).numel()
        key = name, like.dtype, like.device
        if key not in self.pieces or self.pieces[key].numel() < size:
            self.pieces[key] = like.new_empty(size)
        return self.pieces[key][:size].view(shape)


SCRATCH = _Scratch()


def kept(seed: int, number: int, like: Tensor, drop: float) -> Tensor:
    """Dropout's factors, 0 or 1 / (1 - drop), of chunk `number`: the same on the way back."""
    generator = torch.Generator(like.device).manual_seed(seed + number)
    return torch.empty_like(like).bernoulli_(1 - drop, generator=generator).div_(1 - drop)


def scores(chunk: Chunk, q: Tensor, r: Tensor | None, k: Tensor, places: Tensor | None, out: Tensor) -> Tensor:
    """s of one chunk into `out`, n c (W + c - 1); columns off the band hold what nobody may see."""
    q, k = chunk.of_queries(q), chunk.of_keys(k).transpose(1, 2)
    if chunk.missing:
        out[..., : chunk.missing] = 0.0
        out[..., chunk.missing :] = q @ k
    else:
        torch.bmm(q, k, out=out)
    if places is not None:
        place = chunk.by_head(chunk.of_queries(r)) @ places[..., -chunk.window :]
        chunk.by_head(band(out, chunk.window)).add_(place)
    return out


def forward(bucket: Bucket, q, r, k, v, places, z, parameters, seed: int) -> tuple[Tensor, list]:
    """y: B g T dv, and for each chunk (weights, what rows keep) or None."""
    B, g, T, _ = q.shape
    y, stored = q.new_zeros(B, T, g, v.size(-1)).transpose(1, 2), []
    for number, chunk in enumerate(bucket.chunks(q, k)):
        shape = ((chunk.streams.stop - chunk.streams.start) * g, chunk.c, chunk.window + chunk.c - 1)
        P = q.new_empty(shape) if bucket.keep else SCRATCH.take("scores", shape, q)
        scores(chunk, q, r, k, places, P)
        left = bucket.rows.forward(P, chunk, _of(z, chunk), parameters)
        stored.append((P, left) if bucket.keep else None)
        used = P * kept(seed, number, P, bucket.drop) if bucket.drop else P
        made = torch.bmm(used[..., chunk.missing :], chunk.of_keys(v))
        y[chunk.streams, :, chunk.queries] = chunk.by_head(made)
    return y, stored


def _of(z: Tensor | None, chunk: Chunk) -> Tensor | None:
    """z of a chunk: g 1 1, or b g c 1 where it depends on the query."""
    return z[chunk.streams, :, chunk.queries] if z is not None and z.dim() == 4 else z


class _Banded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, bucket, seed, q, r, k, v, places, z, *parameters):
        y, ctx.stored = forward(bucket, q, r, k, v, places, z, parameters, seed)
        ctx.bucket, ctx.seed = bucket, seed
        ctx.save_for_backward(q, r, k, v, places, z, *parameters)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        q, r, k, v, places, z, *parameters = ctx.saved_tensors
        back = Backward(ctx.bucket, ctx.seed, q, r, k, v, places, z, parameters)
        for number, (chunk, stored) in enumerate(zip(ctx.bucket.chunks(q, k), ctx.stored, strict=True)):
            back.chunk(number, chunk, stored, dy)
        return None, None, back.dq, back.dr, back.dk, back.dv, back.dplaces, back.dz, *back.dparameters


class Backward:
    """Gradients of a bucket, gathered chunk by chunk."""

    def __init__(self, bucket: Bucket, seed: int, q, r, k, v, places, z, parameters):
        self.bucket, self.seed, self.parameters = bucket, seed, parameters
        self.q, self.r, self.k, self.v, self.places, self.z = q, r, k, v, places, z
        self.dq, self.dk, self.dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        self.dr, self.dplaces, self.dz = (None if one is None else torch.zeros_like(one) for one in (r, places, z))
        self.dparameters = [torch.zeros_like(one) for one in parameters]

    def chunk(self, number: int, chunk: Chunk, stored, dy: Tensor) -> None:
        bucket, missing = self.bucket, chunk.missing
        if stored is None:
            shape = ((chunk.streams.stop - chunk.streams.start) * bucket.heads, chunk.c, chunk.window + chunk.c - 1)
            P = scores(chunk, self.q, self.r, self.k, self.places, SCRATCH.take("scores", shape, self.q))
            left = bucket.rows.forward(P, chunk, _of(self.z, chunk), self.parameters)
        else:
            P, left = stored
        dy, v = chunk.of_queries(dy), chunk.of_keys(self.v).transpose(1, 2)
        dP = SCRATCH.take("gradient", P.shape, P)
        if missing:
            dP[..., :missing] = 0.0
            dP[..., missing:] = dy @ v
        else:
            torch.bmm(dy, v, out=dP)
        factors = kept(self.seed, number, P, bucket.drop) if bucket.drop else None
        used = P if factors is None else P * factors
        self._add_to_keys(chunk, self.dv, used[..., missing:], dy)
        if factors is not None:
            dP.mul_(factors)
        self._add_to_choices(chunk, bucket.rows.backward(left, P, dP, chunk, _of(self.z, chunk), self.parameters))
        self._through_products(chunk, dP)

    def _through_products(self, chunk: Chunk, ds: Tensor) -> None:
        """ds of a chunk to q, k, r and the places."""
        self.dq[chunk.streams, :, chunk.queries] = chunk.by_head(ds[..., chunk.missing :] @ chunk.of_keys(self.k))
        self._add_to_keys(chunk, self.dk, ds[..., chunk.missing :], chunk.of_queries(self.q))
        if self.places is None:
            return
        W, r = chunk.window, chunk.of_queries(self.r)
        places, dplaces = self.places[..., -W:], self.dplaces[..., -W:]
        ds = SCRATCH.take("scores", (*ds.shape[:2], W), ds).copy_(band(ds, W))
        self.dr[chunk.streams, :, chunk.queries] = chunk.by_head(ds) @ places.transpose(-1, -2)
        if places.dim() == 2:
            dplaces.addmm_(r.flatten(0, 1).T, ds.flatten(0, 1))
        else:
            dplaces += chunk.by_head(r.transpose(1, 2) @ ds).sum(0)

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


def attend_band(bucket: Bucket, q, r, k, v, places, z, parameters: list) -> Tensor:
    """q, r: B g T dk, over sqrt(dk), r None without places; k: K B g dk and v: K B g dv, contiguous, the last T the
    block's own; places: dk W or g dk W, W at least the bucket's reach, the last column x = 1; z: the span's extent.
    Gives B g T dv.
    """
    seed = int(torch.randint(2**62, ())) if bucket.drop else 0
    if torch.is_grad_enabled():
        return _Banded.apply(bucket, seed, q, r, k, v, places, z, *parameters)
    return forward(bucket, q, r, k, v, places, z, parameters, seed)[0]
