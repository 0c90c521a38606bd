"""One query of each stream, as a decoder asks: no band to cut out, no way back.

s = q k^T + r p^T + log m        y = normalise(select(s)) v
"""

import torch
from torch import Tensor

from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.rows import standing_in


def attend_single(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `banded.attend_band` for T = 1, without gradients and without dropout."""
    seen = len(k) - 1 + bucket.attends_self
    W, B, g = min(bucket.reach, seen), k.size(1), k.size(2)
    if W < 1:
        return q.new_zeros(B, g, 1, v.size(-1))
    k, v = (one[seen - W : seen].flatten(1, 2).transpose(0, 1) for one in (k, v))  # n W d, n = streams x heads
    s = torch.bmm(q.flatten(0, 1), k.transpose(1, 2)).view(B, g, 1, W)
    if position_keys is not None:
        s += r @ position_keys[..., position_keys.size(-1) - W :]
    x = torch.arange(W, min(bucket.flat, W), -1, device=q.device)  # the columns whose mask is not surely 1
    log_m = bucket.span.log_mask(x, z) if len(x) else None
    if log_m is not None:
        s[..., : len(x)] += log_m
    with standing_in(parameters, bucket.selection, bucket.normaliser):
        p = bucket.normaliser(bucket.selection(s))
    return torch.bmm(p.flatten(0, 1).to(v.dtype), v).view(B, g, 1, -1)
