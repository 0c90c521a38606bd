"""Attention of some heads to the k keys that each query keeps, forward and back by hand.

    s = q k^T + r p^T + log m        every score is made: that is the one dense price left
    v_1 .. v_k, j_1 .. j_k = the k largest of a row of s, and their keys
    w = normalise(v_1 .. v_k)        all others have weight 0 whatever the normaliser
    y = sum_i w_i v[j_i]

    dv[j_i] += w_i dy    dw_i = dy . v[j_i]    ds = normalise'(dw)
    dq = sum_i ds_i k[j_i]    dk[j_i] += ds_i q    dr = sum_i ds_i p[x_i]    dp[x_i] += ds_i r

Ties with the k-th score stay, as in `selections.top_k`: then the chunk keeps as many scores as its richest row has.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from models.attention.engine.band import scores
from models.attention.engine.chunks import Chunk
from models.attention.engine.head_groups import SCRATCH, HeadGroup, chunk_extent
from models.attention.engine.rows import mask, standing_in
from models.kernels.no_double_backward import once


def largest(s: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest scores of each row and their columns, .. k; more where some row has ties with its k-th."""
    if k >= s.size(-1):
        return s, torch.arange(s.size(-1), device=s.device).expand_as(s)
    best, column = s.topk(k + 1, -1)
    threshold, beyond = best[..., -2:-1], best[..., -1:]
    if not ((beyond == threshold) & (beyond > -math.inf)).any():
        return best[..., :-1], column[..., :-1]
    best, column = s.topk(int(((s >= threshold) & (s > -math.inf)).sum(-1).max().clamp(min=k)), -1)
    return best.masked_fill(best < threshold, -math.inf), column


class _Kept:
    """What a chunk's queries keep, all n c k: key and place, rows of the tables of keys and of places; x, distances;
    w, weights, which autograd made of `score`, the kept scores by head.
    """

    def __init__(
        self, bucket: HeadGroup, chunk: Chunk, s: Tensor, k: Tensor, position_keys: Tensor | None, parameters: list
    ):
        W, c, g, B = chunk.window, chunk.c, bucket.heads, k.size(1)
        best, column = largest(s, bucket.selection.k)
        item = torch.arange(len(s), device=s.device)[:, None, None]
        stream, head = chunk.streams.start + item // g, item % g
        row = (chunk.keys.start - chunk.missing + column).clamp(min=0)  # a column before the stream has weight 0
        self.key = (row * B + stream) * g + head
        self.x = (W + torch.arange(c, device=s.device)[:, None] - column).clamp(1, W)
        if position_keys is not None:
            self.place = (
                position_keys.size(-1) - self.x + (head * position_keys.size(-1) if position_keys.dim() == 3 else 0)
            )
        with torch.enable_grad():
            self.score = chunk.by_head(best.clone()).requires_grad_()
            self.parameters = [one.detach().requires_grad_(one.requires_grad) for one in parameters]
            score = self.score
            if chunk.blind:
                score = torch.cat([torch.zeros_like(score[..., :1, :]), score[..., 1:, :]], -2)
            with standing_in(self.parameters, bucket.normaliser):
                w = bucket.normaliser(score)
            if chunk.blind:
                w = torch.cat([torch.zeros_like(w[..., :1, :]), w[..., 1:, :]], -2)
            self.made = w
        self.w = w.detach().to(best.dtype).flatten(0, 1)  # a normaliser may give more bits than it was given

    @property
    def used(self) -> Tensor:
        """The weights after dropout."""
        return self.w if self.factors is None else self.w * self.factors

    def back(self, dw: Tensor) -> tuple[Tensor, list]:
        """dw: n c k -> ds: n c k, and the gradients of the normaliser's parameters."""
        wanted = [one for one in self.parameters if one.requires_grad]
        dw = dw.view_as(self.made).to(self.made.dtype)
        ds, *found = torch.autograd.grad(self.made, [self.score, *wanted], dw, retain_graph=True)
        return ds.flatten(0, 1), found


def _sum(table: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """sum_i weights_i table[rows_i]: n c k -> n c d."""
    made = embedding_bag(rows.flatten(0, 1), table, mode="sum", per_sample_weights=weights.flatten(0, 1))
    return made.unflatten(0, rows.shape[:2])


def _dot(table: Tensor, rows: Tensor, x: Tensor) -> Tensor:
    """table[rows_i] . x: n c k from x: n c d."""
    gathered = SCRATCH.take("outer", (rows.numel(), x.size(-1)), x)
    torch.index_select(table, 0, rows.flatten(), out=gathered)
    return torch.bmm(gathered.view(-1, rows.size(-1), x.size(-1)), x.reshape(-1, x.size(-1), 1)).view(rows.shape)


def _add(table: Tensor, rows: Tensor, weights: Tensor, x: Tensor) -> None:
    """table[rows_i] += weights_i x, x: n c d."""
    shape = (*rows.shape, x.size(-1))
    outer = torch.mul(weights[..., None], x[..., None, :], out=SCRATCH.take("outer", shape, x))
    table.index_add_(0, rows.flatten(), outer.flatten(0, 2))


def _table(position_keys: Tensor | None) -> Tensor | None:
    """A row per distance, of each head where places differ by head."""
    return None if position_keys is None else position_keys.transpose(-1, -2).flatten(0, -2).contiguous()


def forward(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters) -> tuple[Tensor, list[_Kept]]:
    B, g, T, _ = q.shape
    y, stored = q.new_zeros(B, T, g, v.size(-1)).transpose(1, 2), []
    for number, chunk in enumerate(bucket.chunks(q, k)):
        s = scores(chunk, q, r, k, position_keys, SCRATCH.take("scores", chunk.shape(g), q))
        mask(s, chunk, bucket.span, bucket.flat, chunk_extent(z, chunk))
        kept = _Kept(bucket, chunk, s, k, position_keys, parameters)
        kept.factors = bucket.factors(number, kept.w)
        y[chunk.streams, :, chunk.queries] = chunk.by_head(_sum(v.flatten(0, 2), kept.key, kept.used))
        stored.append(kept) if bucket.grad else None
    return y, stored


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, bucket, q, r, k, v, position_keys, z, *parameters):
        y, ctx.stored = forward(bucket, q, r, k, v, position_keys, z, parameters)
        ctx.bucket = bucket
        ctx.save_for_backward(q, r, k, v, position_keys, z, *parameters)
        return y

    @staticmethod
    @once
    def backward(ctx, dy):
        q, r, k, v, position_keys, z, *parameters = ctx.saved_tensors
        found = [None if one is None else torch.zeros_like(one) for one in (q, r, k, v, position_keys, z, *parameters)]
        dq, dr, dk, dv, dposition_keys, dz, *others = found
        tables = _table(position_keys), None if position_keys is None else _table(torch.zeros_like(position_keys))
        for chunk, kept in zip(ctx.bucket.chunks(q, k), ctx.stored, strict=True):
            here = chunk.of_queries(dy)
            dw = _dot(v.flatten(0, 2), kept.key, here)
            _add(dv.flatten(0, 2), kept.key, kept.used, here)
            ds, slopes = kept.back(dw if kept.factors is None else dw * kept.factors)
            dq[chunk.streams, :, chunk.queries] = chunk.by_head(_sum(k.flatten(0, 2), kept.key, ds))
            _add(dk.flatten(0, 2), kept.key, ds, chunk.of_queries(q))
            if position_keys is not None:
                dr[chunk.streams, :, chunk.queries] = chunk.by_head(_sum(tables[0], kept.place, ds))
                _add(tables[1], kept.place, ds, chunk.of_queries(r))
            for one, other in zip([one for one in others if one is not None], slopes, strict=False):
                one += other
            _add_to_z(dz, ctx.bucket, chunk, kept, ds, chunk_extent(z, chunk))
        if position_keys is not None:
            dposition_keys = tables[1].unflatten(0, (*position_keys.shape[:-2], -1)).transpose(-1, -2)
        return None, dq, dr, dk, dv, dposition_keys, dz, *others


def _add_to_z(dz: Tensor | None, bucket: HeadGroup, chunk: Chunk, kept: _Kept, ds: Tensor, z: Tensor | None) -> None:
    """The gradient of z, through log m at the kept distances."""
    if z is None or not z.requires_grad:
        return
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        log_m = bucket.span.log_mask(chunk.by_head(kept.x), z)
    (found,) = torch.autograd.grad(log_m, z, chunk.by_head(ds))
    if z.dim() == 4:
        dz[chunk.streams, :, chunk.queries] = found
    else:
        dz += found


def attend_kept(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `banded.attend_band`, for the selection's k keys a query."""
    if torch.is_grad_enabled():
        return _Gathered.apply(bucket, q, r, k, v, position_keys, z, *parameters)
    return forward(bucket, q, r, k, v, position_keys, z, parameters)[0]
