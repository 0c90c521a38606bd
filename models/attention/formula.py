"""The definition of attention, dense and readable: the oracle of every test.

    score  = position(q_t, k, x) / sqrt(dk)
    masked = score + log m(x, query)
    kept   = select(masked)
    p      = normalise(kept)
    y_t    = sum p v

x = 1 is the nearest visible key. In a stream it is the token before the query, or the query's own where a net attends
to itself; in a sentence that attends to itself x = |t - j| + 1. Between two sentences there is no x, and so neither
span nor position.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout

from models.attention.engine.caches import Past


def attend(q: Tensor, k: Tensor, v: Tensor, z: Tensor | None, choices, *, reach: int, drop: float = 0.0) -> Tensor:
    """Attend in a stream: q: B h T dk, k: B h K dk, v: B h K dv, the last T the block's own -> B h T dv."""
    return dropout(weights(q, k, z, choices, reach=reach), drop) @ v


def weights(q: Tensor, k: Tensor, z: Tensor | None, choices, *, reach: int) -> Tensor:
    """Weigh every key of a stream for every query: B h T K.

    Computes all T x K scores; `reach` only bounds the position keys that exist.
    """
    T, K = q.size(-2), k.size(-2)
    query = torch.arange(K - T, K, device=q.device)[:, None]
    x = query - torch.arange(K, device=q.device) + choices.attends_self
    return weigh(q, k, z, choices, x >= 1, x, min(reach, K))


def weigh(q: Tensor, k: Tensor, z: Tensor | None, choices, visible: Tensor, x: Tensor | None, reach: int) -> Tensor:
    """Weigh the keys that `visible` (bool, broadcasts to B h T K) shows, those with x > reach left out: B h T K.

    x: T K, or None where keys have no distance. A query with no visible key has weights 0.
    """
    score = choices.position.content(q) @ k.transpose(-1, -2)
    log_m = None
    if x is not None:
        visible = visible & (x <= reach)
        score = _with_position(score, q, choices.position, x, reach)
        log_m = choices.span.log_mask(x.clamp(min=1), z)
    score = score / math.sqrt(q.size(-1))
    masked = score if log_m is None else score + log_m
    masked = masked.masked_fill(~visible, -math.inf)
    empty = masked.detach().isneginf().all(-1, keepdim=True)
    kept = choices.selection(masked).masked_fill(empty, 0.0)
    return choices.normaliser(kept).masked_fill(empty, 0.0)


def _with_position(score: Tensor, q: Tensor, position, x: Tensor, reach: int) -> Tensor:
    position_keys = position.keys(reach)  # columns x = reach .. 1
    if position_keys is None:
        return score
    column = (reach - x).clamp(0, reach - 1).expand_as(score)
    return score + (position.query(q) @ position_keys).gather(-1, column)


class Definition:
    """An implementation of `StreamAttention` and `SequenceAttention` beside `Engine`."""

    def start(self, layer, batch: int) -> Past:
        """Make the cache of streams that have not begun: no inputs, 0 B d."""
        weight = layer.key.weight
        return (weight.new_empty(0, batch, layer.shape.d_model),)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cached inputs -> B T h dv before the output projection, and the next cache."""
        (inputs,) = past
        inputs = inputs.transpose(0, 1).to(x.dtype)
        bound = min(layer.bounds(), default=inputs.size(1) + x.size(1))
        seen = torch.cat([inputs[:, max(0, inputs.size(1) - bound) :], x], 1)
        k, v = layer.split(layer.key(seen)), layer.split(layer.value(seen))
        y = attend(layer.split(layer.query(x)), k, v, layer.span.extent(x), layer, reach=bound, drop=layer.drop)
        kept = torch.cat([inputs, x.detach()], 1)[:, -layer.span.cache_length(bound) :]
        return y.transpose(1, 2), (kept.transpose(0, 1),)

    def attend_sequence(self, layer, x: Tensor, projected: tuple[Tensor, Tensor, Tensor], visible: Tensor) -> Tensor:
        """Attend to a whole sequence -> B h T dv before the output projection.

        x: B T d; projected: queries B h T dk, keys and values B h N d.
        """
        q, k, v = projected
        visible, distance, reach = visible[:, None, None], None, k.size(-2)
        if layer.reads_itself:
            index = torch.arange(reach, device=x.device)
            distance, reach = (index[:, None] - index).abs() + 1, min([*layer.bounds(), reach])
            visible = visible & visible.transpose(-1, -2)
        weights = weigh(q, k, layer.span.extent(x), layer, visible, distance, reach)
        return dropout(weights, layer.drop) @ v
