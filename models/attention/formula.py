"""The definition of attention, dense and readable: the oracle of every test.

    score  = position(q_t, k, x) / sqrt(d / h)
    masked = score + log m(x, query)
    kept   = select(masked)
    p      = normalise(kept)
    y_t    = sum p v

x = 1 is the nearest visible key: the token before the query, or the query's own where a net attends itself.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout


def attend(q: Tensor, k: Tensor, v: Tensor, z: Tensor | None, choices, *, reach: int, drop: float = 0.0) -> Tensor:
    """q: B h T d/h, k and v: B h K d/h of which the last T are the block's own. Gives B h T d/h."""
    return dropout(weights(q, k, z, choices, reach=reach), drop) @ v


def weights(q: Tensor, k: Tensor, z: Tensor | None, choices, *, reach: int) -> Tensor:
    """The weight of every key for every query: B h T K.

    Computes all T x K scores; `reach` only bounds the position keys that exist. A query with no visible key has
    weights 0.
    """
    T, K = q.size(-2), k.size(-2)
    query = torch.arange(K - T, K, device=q.device)[:, None]
    x = query - torch.arange(K, device=q.device) + choices.attends_self
    limit = min(reach, K)
    visible = (x >= 1) & (x <= limit)
    content = choices.position.content(q) @ k.transpose(-1, -2)
    by_rank = choices.position.query(q) @ choices.position.keys(limit)  # columns x = limit .. 1
    column = (limit - x).clamp(0, limit - 1).expand(*q.shape[:2], T, K)
    score = (content + by_rank.gather(-1, column)) / math.sqrt(q.size(-1))
    log_m = choices.span.log_mask(x.clamp(min=1), z)
    masked = score if log_m is None else score + log_m
    masked = masked.masked_fill(~visible, -math.inf)
    empty = ~visible.any(-1, keepdim=True)
    kept = choices.selection(masked).masked_fill(empty, 0.0)
    return choices.normaliser(kept).masked_fill(empty, 0.0)
