"""The definition of attention, dense and readable: the oracle of every test.

    score  = position(q_t, k, x)          see positions/_position.py
    masked = score + log m(x, query)
    kept   = select(masked)
    p      = normalise(kept)
    y_t    = sum p v

x = 1 is the nearest visible key. In a stream it is the token before the query, or the query's own
where a net attends to itself; in a sentence that attends to itself x = |t - j| + 1. Between two
sentences there is no x, and so neither span nor position.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout

from .engine.caches import Past
from .engine.groups import for_all_heads


def attend(
    q: Tensor, k: Tensor, v: Tensor, z: Tensor | None, choices, *, reach: int, drop: float = 0.0
) -> Tensor:
    """Attend in a stream: q: B h T dk, k: B h K dk, v: B h K dv, the last T the block's own -> B h
    T dv.
    """
    return dropout(weights(q, k, z, choices, reach=reach), drop) @ v


def weights(q: Tensor, k: Tensor, z: Tensor | None, choices, *, reach: int) -> Tensor:
    """Weigh every key of a stream for every query: B h T K.

    Computes all T x K scores; `reach` only bounds the position keys that exist.
    """
    T, K = q.size(-2), k.size(-2)
    query = torch.arange(K - T, K, device=q.device)[:, None]
    x = query - torch.arange(K, device=q.device) + choices.attends_self
    return weigh(q, k, z, choices, x >= 1, x, min(reach, K))


def weigh(
    q: Tensor, k: Tensor, z: Tensor | None, choices, visible: Tensor, x: Tensor | None, reach: int
) -> Tensor:
    """Weigh the keys that `visible` (bool, broadcasts to B h T K) shows, those with x > reach left
    out: B h T K.

    x: T K, or None where keys have no distance. A query with no visible key, or whose visible
    scores are all -inf, has weights 0; one with a visible score of +inf or NaN has weights NaN, so
    that a run which diverges shows it.
    """
    if x is None:
        masked = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    else:
        first = torch.arange(x.size(-1), device=x.device) < choices.span.first
        visible = visible & ((x <= reach) | first)
        masked = _score(q, k, choices, x, reach)
        log_m = choices.span.log_mask(x.clamp(min=1), z)
        if log_m is not None:
            masked = masked + log_m
            # whatever the score of a hidden key, +inf or NaN too
            visible = visible & (log_m != -math.inf)
    masked = masked.masked_fill(~visible, -math.inf)
    if not masked.size(-1):  # rows of nothing, which have no largest score
        return masked
    empty = masked.detach().isneginf().all(-1, keepdim=True)
    kept = choices.selection(masked.masked_fill(empty, 0.0))
    return choices.normaliser(kept).masked_fill(empty, 0.0)


def _score(q: Tensor, k: Tensor, choices, x: Tensor, reach: int) -> Tensor:
    """Score keys by content and place. The first keys are no farther than just beyond the reach,
    see `Span.first`.
    """
    position, n, place = (
        choices.position,
        choices.span.first,
        torch.arange(k.size(-2), device=k.device),
    )
    content, keys = position.content(q), position.turn(k, place)
    # below 0 before the first key
    own = torch.arange(k.size(-2) - q.size(-2), k.size(-2), device=k.device)
    to_first = _score_first(content, keys[..., :n, :], choices, own, reach)
    score = torch.cat(
        [to_first, position.turn(content, own) @ keys[..., n:, :].transpose(-1, -2)], -1
    )
    x = torch.where(place < n, x.clamp(max=reach + n - place), x)
    far = min(reach + n, position.limit or reach + n)
    position_keys, bias = position.keys(far), position.bias(x.clamp(1, far))
    if position_keys is not None:  # columns x = far .. 1
        column = (far - x).clamp(0, far - 1).expand_as(score)
        score = score + (position.query(q) @ position_keys).gather(-1, column)
    score = score / math.sqrt(q.size(-1))
    return score if bias is None else score + bias.to(score.dtype)


def _score_first(content: Tensor, keys: Tensor, choices, own: Tensor, reach: int) -> Tensor:
    """Score the first n keys, B h n dk, turned as their places say, by content: B h T n. own: the
    queries' places, T.

    Key j is at most reach + n - j far. A query behind the keys moves near them, to one place for
    all; one before them, in a sentence, to a place for each key.
    """
    turn, farthest = choices.position.turn, reach + choices.span.first
    behind = farthest - int(choices.attends_self)
    before = [2 * j + 1 - farthest for j in range(keys.size(-2))]  # where j - t + 1 = reach + n - j
    if max(before, default=0) <= 0:
        return turn(content, own.clamp(max=behind)) @ keys.transpose(-1, -2)
    columns = [keys[..., [j], :].transpose(-1, -2) for j in range(len(before))]
    places = [own.clamp(least, behind) for least in before]
    return torch.cat([turn(content, t) @ k for t, k in zip(places, columns, strict=True)], -1)


class Definition:
    """An implementation of `StreamAttention` and `SequenceAttention` beside `Engine`."""

    def start(self, layer, batch: int) -> Past:
        """Make the cache of streams that have not begun: no inputs, 0 B d."""
        weight = layer.key.weight
        return (weight.new_empty(0, batch, layer.shape.d_model),)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cached inputs -> B T h dv before the output projection, and
        the next cache.
        """
        (inputs,) = past
        inputs = inputs.to(x.dtype)
        bound = min(layer.bounds(), default=len(inputs) + x.size(1))
        seen = torch.cat([layer.span.keep(inputs, bound).transpose(0, 1), x], 1)
        keys_and_values = (
            layer.split(each(seen), layer.shape.key_heads) for each in (layer.key, layer.value)
        )
        q, (k, v) = (
            layer.split(layer.query(x)),
            (for_all_heads(each, layer.shape, 1) for each in keys_and_values),
        )
        y = attend(q, k, v, layer.span.extent(x), layer, reach=bound, drop=layer.drop)
        rows = torch.cat([inputs, x.detach().transpose(0, 1)])
        return y.transpose(1, 2), (layer.span.keep(rows, layer.span.cache_length(bound)),)

    def attend_sequence(
        self, layer, x: Tensor, projected: tuple[Tensor, Tensor, Tensor], visible: Tensor
    ) -> Tensor:
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
