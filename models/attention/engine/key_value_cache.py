"""Keys and values of a block and of what came before it, bucket by bucket.

In training a layer remembers its inputs and projects them anew with the weights of the step, without gradient into the
past; in evaluation, where weights stand still, it remembers each bucket's keys and values instead.
"""

from functools import lru_cache

import torch
from torch import Tensor

from models.attention.engine.projections import project
from models.attention.engine.stream_cache import Past


@lru_cache(maxsize=4096)
def head_index(heads: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(heads, device=device)


def pick_heads(x: Tensor, heads: tuple[int, ...], axis: int) -> Tensor:
    """These heads alone; all of them are not copied."""
    return x if len(heads) == x.size(axis) else x.index_select(axis, head_index(heads, x.device))


class Inputs:
    """In training: the inputs, projected anew for each bucket."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.x = layer, x.transpose(0, 1)
        self.rows = layer.caches[0].append(past[0], self.x)

    def of(self, number: int, heads: tuple[int, ...], reach: int) -> list[Tensor]:
        """Keys K B g dk and values K B g dv that these heads reach."""
        rows = self.rows[-(len(self.x) + reach) :]
        weights = (weight.to(rows.dtype) for weight in _weights(self.layer, heads))
        return [side.unflatten(-1, (len(heads), -1)) for side in project(self.x, *weights, rows)]

    def kept(self, made: list) -> Past:
        return (self.rows[-self.layer.span.cache_length(max(reach for _, reach in made)) :],)


class KeysAndValues:
    """In evaluation: each bucket's own keys and values."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.past, self.rows, x = layer, past, [], x.transpose(0, 1)
        self.new = [side(x).unflatten(-1, (layer.shape.heads, -1)) for side in (layer.key, layer.value)]

    def of(self, number: int, heads: tuple[int, ...], reach: int) -> list[Tensor]:
        for side, new in enumerate(self.new, 2 * number):
            self.rows.append(self.layer.caches[side].append(self.past[side], pick_heads(new, heads, 2)))
        return [rows[-(len(self.new[0]) + reach) :] for rows in self.rows[-2:]]

    def kept(self, made: list) -> Past:
        """A bucket keeps what it reaches, or what its span asks for where that depends on the input."""
        span = self.layer.span
        keep = [span.cache_length(reach) if span.follows_input else reach for _, reach in made for _ in range(2)]
        return tuple(rows[-count:] for rows, count in zip(self.rows, keep, strict=True))


def _weights(layer, heads: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """W_k and W_v of these heads: g dk d and g dv d, heads one below the other."""
    sides = (side.weight.unflatten(0, (layer.shape.heads, -1)) for side in (layer.key, layer.value))
    return tuple(pick_heads(side, heads, 0).flatten(0, 1) for side in sides)
