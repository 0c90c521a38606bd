"""A variant of attention: one choice on each axis. What the definition and the engine ask for."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from .choice import Choice, Shape
from .positions._position import Position
from .score_scales._score_scale import ScoreScale
from .spans._span import Span

# a layer's cache in one or several parts, time first, streams second: K B ..
Past = tuple[Tensor, ...]


class Variant(Protocol):
    """One choice on each axis, the sizes, and two settings. Layers and `Choices` satisfy it.

    attends_self: whether x = 1 is a query's own place. drop: dropout on the weights, 0 in
    evaluation.
    """

    span: Span
    selection: Choice
    normaliser: Choice
    position: Position
    score_scale: ScoreScale
    shape: Shape
    attends_self: bool
    drop: float


@dataclass(frozen=True)
class Choices:
    """A variant without a layer's projections."""

    span: Span
    selection: Choice
    normaliser: Choice
    position: Position
    score_scale: ScoreScale
    shape: Shape
    attends_self: bool
    drop: float = 0.0


def stream_scales(
    variant: Variant, x: Tensor | None, keys: int, queries: int, device: torch.device
) -> Tensor | None:
    """Compute what multiplies the scores of the queries of a stream: B h T 1 or h T 1, or None.

    x: B T d, the layer's input, None where there is no layer. The last `queries` T of the keys are
    the queries' own.
    """
    if not variant.score_scale.changes_queries:
        return None
    place = torch.arange(keys - queries, keys, device=device)
    limit = farthest(variant, keys) + variant.span.first
    n = (place + variant.attends_self).clamp(max=limit)
    return _of_heads(variant, x, n)


def sequence_scales(layer, x: Tensor, visible: Tensor, reach: int) -> Tensor | None:
    """Compute what multiplies the scores of a sequence's queries: B h T 1 or B h 1 1, or None.

    x: B T d. visible: B N, False at padding. reach: the most keys that the limits allow.
    """
    if not layer.score_scale.changes_queries:
        return None
    if not layer.reads_itself:
        return _of_heads(layer, x, visible.sum(-1, keepdim=True))
    place = torch.arange(visible.size(-1), device=visible.device)
    distance = (place[:, None] - place).abs() + 1
    within = (distance <= reach) | (place < layer.span.first)
    seen = visible[:, None, :] & within  # B T N
    return _of_heads(layer, x, seen.sum(-1))


def _of_heads(variant: Variant, x: Tensor | None, n: Tensor) -> Tensor:
    """Compute the scale of every head; 1 where a head's position is not to be scaled.

    n: T, B T or B 1. A query that sees no key counts as if it saw one: it has no weights.
    """
    s = variant.score_scale.of_queries(x, n.clamp(min=1))
    unscaled = variant.position.unscaled_heads
    if not unscaled:
        return s
    *batch, _, T, _ = s.shape
    ones = s.new_ones(*batch, unscaled, T, 1)
    return torch.cat([ones, s], -3)


def cached_length(variant: Variant, reach: int) -> int:
    """Count the inputs, or keys, that a layer keeps for the next block.

    reach: what its heads reach now. Where scores depend on how many keys the span's limit shows,
    as many are kept, for a cache is what counts them.
    """
    limit = variant.span.limit
    if variant.score_scale.counts_keys and limit is not None:
        return limit
    return variant.span.cache_length(reach)


def farthest(variant: Variant, keys: int) -> int:
    """Return the most of `keys` keys that any head may ever see, by its span and its position."""
    for limit in (variant.span.limit, variant.position.limit):
        if limit is not None:
            keys = min(keys, limit)
    return keys


def for_all_heads(x: Tensor, shape: Shape, axis: int) -> Tensor:
    """Repeat heads of keys or values for the heads of queries that share them."""
    if shape.sharing == 1:
        return x
    return x.repeat_interleave(shape.sharing, axis)
