"""Attention of some heads with the backward pass left to autograd.

For blocks of so few scores that the Python of a backward pass by hand costs more than it saves.

    s = q k^T + r p^T        y = normalise(select(s + log m)) v
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from models.attention.engine.chunks import Chunk, band
from models.attention.engine.head_groups import HeadGroup, chunk_extent
from models.attention.engine.rows import weights


def attend_small(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `band.attend_band`."""
    parts = []
    for number, chunk in enumerate(group.chunks(q, k)):
        s = band(_content_scores(chunk, q, k), chunk.window)
        s = chunk.by_head(s if r is None else s + _position_scores(chunk, r, position_keys))
        p = weights(group, s, chunk, chunk_extent(z, chunk), parameters)
        factors = group.dropout_factors(number, p)
        p = _unband(p if factors is None else p * factors).flatten(0, 1)
        parts.append((chunk, chunk.by_head(torch.bmm(p[..., chunk.missing :], chunk.of_keys(v)))))
    if len(parts) == 1 and parts[0][1].shape[:3] == q.shape[:3]:
        return parts[0][1]
    y = q.new_zeros(*q.shape[:3], v.size(-1))
    for chunk, part in parts:
        y[chunk.streams, :, chunk.queries] = part
    return y


def _content_scores(chunk: Chunk, q: Tensor, k: Tensor) -> Tensor:
    """q k^T, n c (W + c - 1), contiguous, zeros before the stream's first key."""
    s = torch.bmm(chunk.of_queries(q), chunk.of_keys(k).transpose(1, 2))
    return pad(s, (chunk.missing, 0)) if chunk.missing else s


def _position_scores(chunk: Chunk, r: Tensor, position_keys: Tensor) -> Tensor:
    """r p^T, n c W."""
    nearest = position_keys[..., position_keys.size(-1) - chunk.window :]
    return (r[chunk.streams, :, chunk.queries] @ nearest).flatten(0, 1)


def _unband(p: Tensor) -> Tensor:
    """The transpose of `band`: .. c W onto zeros .. c (W + c - 1)."""
    *batch, c, W = p.shape
    return pad(p, (0, c)).flatten(-2)[..., : c * (W + c - 1)].view(*batch, c, W + c - 1)
