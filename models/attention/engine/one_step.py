"""One query of each stream, as in decoding: no band to cut out, no backward pass.

s = q k^T + r p^T + log m        y = normalise(select(s)) v
"""

import torch
from torch import Tensor

from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.rows import substituted


def attend_one_step(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `band.attend_band` for T = 1, without gradients and without dropout."""
    seen = len(k) - 1 + group.attends_self
    W, B, g = min(group.reach, seen), k.size(1), k.size(2)
    if W < 1:
        return q.new_zeros(B, g, 1, v.size(-1))
    k, v = (rows[seen - W : seen].flatten(1, 2).transpose(0, 1) for rows in (k, v))  # n W d, n = streams x heads
    s = torch.bmm(q.flatten(0, 1), k.transpose(1, 2)).view(B, g, 1, W)
    if position_keys is not None:
        s += r @ position_keys[..., position_keys.size(-1) - W :]
    x = torch.arange(W, min(group.flat, W), -1, device=q.device)  # the columns whose mask is not surely 1
    log_m = group.span.log_mask(x, z) if len(x) else None
    if log_m is not None:
        s[..., : len(x)] += log_m
    with substituted(parameters, group.selection, group.normaliser):
        p = group.normaliser(group.selection(s))
    return torch.bmm(p.flatten(0, 1).to(v.dtype), v).view(B, g, 1, -1)
