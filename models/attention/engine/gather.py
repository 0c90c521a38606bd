"""Attention of some heads to the k keys that each query keeps, forward and backward by hand.

    s = q k^T + r p^T + log m        every score is computed: the only dense part that is left
    v_1 .. v_k, j_1 .. j_k = the k largest of a row of s, and their keys
    w = normalise(v_1 .. v_k)        all others have weight 0 whatever the normaliser
    y = sum_i w_i v[j_i]

    dv[j_i] += w_i dy    dw_i = dy . v[j_i]    ds = normalise'(dw)
    dq = sum_i ds_i k[j_i]    dk[j_i] += ds_i q    dr = sum_i ds_i p[x_i]    dp[x_i] += ds_i r

Ties with the k-th score stay, as in `selections.top_k`: the chunk then keeps as many scores as its longest row has.
"""

import torch
from torch import Tensor

from models.attention.engine.band import scores
from models.attention.engine.chunks import Chunk
from models.attention.engine.head_groups import HeadGroup, chunk_extent
from models.attention.engine.kept_keys import KeptKeys, add_outer, dot, weighted_sum
from models.attention.engine.rows import mask
from models.attention.engine.scratch import SCRATCH
from models.kernels.no_double_backward import no_double_backward


def _table(position_keys: Tensor | None) -> Tensor | None:
    """A row per distance, of each head where position keys differ by head."""
    return None if position_keys is None else position_keys.transpose(-1, -2).flatten(0, -2).contiguous()


def forward(group: HeadGroup, q, r, k, v, position_keys, z, parameters) -> tuple[Tensor, list[KeptKeys]]:
    """y: B g T dv, and what each chunk kept, for the backward pass."""
    B, g, T, _ = q.shape
    y, stored = q.new_zeros(B, T, g, v.size(-1)).transpose(1, 2), []
    for number, chunk in enumerate(group.chunks(q, k)):
        s = scores(chunk, q, r, k, position_keys, SCRATCH.take("scores", chunk.shape(g), q))
        mask(s, chunk, group.span, group.flat, chunk_extent(z, chunk))
        kept = KeptKeys(group, chunk, s, k, position_keys, parameters)
        kept.factors = group.dropout_factors(number, kept.w)
        y[chunk.streams, :, chunk.queries] = chunk.by_head(weighted_sum(v.flatten(0, 2), kept.key, kept.dropped))
        if group.grad:
            stored.append(kept)
    return y, stored


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, group, q, r, k, v, position_keys, z, *parameters):
        y, ctx.stored = forward(group, q, r, k, v, position_keys, z, parameters)
        ctx.group = group
        ctx.save_for_backward(q, r, k, v, position_keys, z, *parameters)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        q, r, k, v, position_keys, z, *parameters = ctx.saved_tensors
        tensors = (q, r, k, v, position_keys, z, *parameters)
        zeros = [None if tensor is None else torch.zeros_like(tensor) for tensor in tensors]
        dq, dr, dk, dv, dposition_keys, dz, *dparameters = zeros
        table = _table(position_keys)
        dtable = None if position_keys is None else _table(torch.zeros_like(position_keys))
        for chunk, kept in zip(ctx.group.chunks(q, k), ctx.stored, strict=True):
            dy_chunk = chunk.of_queries(dy)
            dw = dot(v.flatten(0, 2), kept.key, dy_chunk)
            add_outer(dv.flatten(0, 2), kept.key, kept.dropped, dy_chunk)
            ds, gradients = kept.backward(dw if kept.factors is None else dw * kept.factors)
            dq[chunk.streams, :, chunk.queries] = chunk.by_head(weighted_sum(k.flatten(0, 2), kept.key, ds))
            add_outer(dk.flatten(0, 2), kept.key, ds, chunk.of_queries(q))
            if position_keys is not None:
                dr[chunk.streams, :, chunk.queries] = chunk.by_head(weighted_sum(table, kept.position, ds))
                add_outer(dtable, kept.position, ds, chunk.of_queries(r))
            for total, gradient in zip([d for d in dparameters if d is not None], gradients, strict=False):
                total += gradient
            _add_to_z(dz, ctx.group, chunk, kept, ds, chunk_extent(z, chunk))
        if position_keys is not None:
            dposition_keys = dtable.unflatten(0, (*position_keys.shape[:-2], -1)).transpose(-1, -2)
        return None, dq, dr, dk, dv, dposition_keys, dz, *dparameters


def _add_to_z(dz: Tensor | None, group: HeadGroup, chunk: Chunk, kept: KeptKeys, ds: Tensor, z: Tensor | None) -> None:
    """The gradient of z, through log m at the kept distances."""
    if z is None or not z.requires_grad:
        return
    with torch.enable_grad():
        z = z.detach().requires_grad_()
        log_m = group.span.log_mask(chunk.by_head(kept.x), z)
    (gradient,) = torch.autograd.grad(log_m, z, chunk.by_head(ds))
    if z.dim() == 4:
        dz[chunk.streams, :, chunk.queries] = gradient
    else:
        dz += gradient


def attend_gather(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `band.attend_band`, for the selection's k keys a query."""
    if torch.is_grad_enabled():
        return _Gathered.apply(group, q, r, k, v, position_keys, z, *parameters)
    return forward(group, q, r, k, v, position_keys, z, parameters)[0]
