"""A variant of attention: one choice on each axis. What the definition and the engine ask for."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from .choice import Choice, Shape
from .positions._position import Position
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
    shape: Shape
    attends_self: bool
    drop: float = 0.0


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
