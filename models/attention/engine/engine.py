"""The same numbers as the definition without computing what no head can see.

Heads are taken in buckets of like reach; each bucket has keys and values of its own reach alone, projections included.
"""

import math
import sys
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from models.attention.engine.backend import attend_bucket, choose
from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.key_value_cache import Inputs, KeysAndValues, head_index, pick_heads
from models.attention.engine.rows import by_hand
from models.attention.engine.stream_cache import Past

# What a bucket more costs, in keys that a head sees: for a block in training it falls with the work that a key means.
# Measured on two cores: 2 ms for a bucket forward and back, 14 us for a key of 2,048 queries 64 wide.
COST, COST_IN_EVALUATION = 20_000_000, 1024
KEEP_BYTES = 256 << 20  # of weights that a bucket may keep for the way back; beyond, they are computed again
KEPT_BY_AUTOGRAD = 6  # times as much where rows go through autograd: scores, masked scores, weights and what led there


class Computed(NamedTuple):
    """What was computed for a bucket of a block, for whoever counts: heads, reach, keys projected, by which code."""

    heads: int
    reach: int
    keys: int
    name: str = "band"


def start(layer, batch: int) -> Past:
    """The memory of streams that have not begun: inputs in training (0 B d), else two parts for each bucket of heads.

    In evaluation the buckets of this moment stay those of the layer until the next start.
    """
    weight, shape = layer.key.weight, layer.shape
    for memory in layer.caches:
        memory.forget()
    if layer.training:
        return (weight.new_empty(0, batch, shape.d_model),)
    layer.partition = [tuple(range(shape.heads))]
    if not layer.span.follows_input:
        made = _partition(_reaches(layer, layer.span.extent(None)), COST_IN_EVALUATION)
        layer.partition = [heads for heads, _ in made]
    widths = (shape.d_k, shape.d_v)
    return tuple(weight.new_empty(0, batch, len(heads), c) for heads in layer.partition for c in widths)


def attend(layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
    """x: B T d and the memory before it -> y: B T h dv before the output projection, and the memory after it.

    In evaluation keys and values are remembered, and no gradient reaches them.
    """
    z = layer.span.extent(x)
    B, T = int(x.size(0)), int(x.size(1))
    made, at_hand = buckets(layer, z, B * T), max(map(len, past)) + T - 1 + layer.attends_self
    asked = _Asked(layer, x, z, min(max(reach for _, reach in made), at_hand))
    memory = (Inputs if layer.training else KeysAndValues)(layer, x.to(asked.content.dtype), past)
    layer.shapes, parts = [], []
    for number, (heads, reach) in enumerate(made):
        k, v = memory.of(number, heads, min(reach, at_hand))
        bucket, tensors = asked.of(heads, min(reach, at_hand), k, v)
        q, _, _, v, position_keys, own, _ = tensors
        name = choose(bucket, q, v, position_keys, own)
        layer.shapes.append(Computed(len(heads), bucket.reach, len(k), name))
        parts.append(attend_bucket(name, bucket, *tensors))
    return _in_order(parts, [heads for heads, _ in made]).transpose(1, 2), memory.kept(made)


def buckets(layer, z: Tensor | None, queries: int = 0) -> list[tuple[tuple[int, ...], int]]:
    """Heads that are computed together and the farthest reach among them, the nearest bucket first.

    queries: of the block in all streams. In evaluation the buckets are those for which `start` made the memory.
    """
    reaches = _reaches(layer, z)
    if layer.training:
        return _partition(reaches, COST // (queries * layer.shape.d_k))
    return [(heads, max(reaches[head] for head in heads)) for heads in layer.partition]


def _reaches(layer, z: Tensor | None) -> tuple[int, ...]:
    most = min(layer.bounds(), default=sys.maxsize)
    return tuple(min(most, reach) for reach in layer.span.reach(z).tolist())


@lru_cache(maxsize=4096)
def _partition(reaches: tuple[int, ...], cost: int) -> list[tuple[tuple[int, ...], int]]:
    """The partition of the heads, in the order of their reach, of the least sum of cost + heads x farthest reach."""
    order = sorted(range(len(reaches)), key=reaches.__getitem__)
    best: list[tuple[int, list]] = [(0, [])]  # of the first n heads
    for stop in range(1, len(order) + 1):
        far = reaches[order[stop - 1]]
        options = [(best[start][0] + cost + (stop - start) * far, start) for start in range(stop)]
        least, start = min(options)
        best.append((least, [*best[start][1], (tuple(sorted(order[start:stop])), far)]))
    return best[-1][1]


def _in_order(parts: list[Tensor], heads: list[tuple[int, ...]]) -> Tensor:
    """B g T dv of each bucket -> B h T dv."""
    if len(parts) == 1:
        return parts[0]
    standing = [head for bucket in heads for head in bucket]
    order = head_index(tuple(sorted(range(len(standing)), key=standing.__getitem__)), parts[0].device)
    return torch.cat([part.transpose(1, 2) for part in parts], 2).index_select(2, order).transpose(1, 2)


class _Asked:
    """What the queries of a block ask, bucket by bucket."""

    def __init__(self, layer, x: Tensor, z: Tensor | None, widest: int):
        self.layer, self.z, position = layer, z, layer.position
        q, scale = layer.split(layer.query(x)), 1 / math.sqrt(layer.shape.d_k)
        content, place = position.content(q), position.query(q) if position.needs_distance else None
        self.content = content * scale
        position_keys = position.keys(widest) if widest else None
        self.position_keys = (
            None if position_keys is None else position_keys.to(self.content.dtype)
        )  # 16 bits where q has been made so
        self.place = None if self.position_keys is None else self.content if place is content else place * scale

    def of(self, heads: tuple[int, ...], reach: int, k: Tensor, v: Tensor) -> tuple[HeadGroup, tuple]:
        """The bucket of these heads, and the tensors that `attend_band` takes."""
        layer, asked = self.layer, (self.content, self.place, self.z)
        q, r, z = (one if one is None else pick_heads(one, heads, -3) for one in asked)
        position_keys = (
            pick_heads(self.position_keys, heads, 0)
            if self.position_keys is not None and self.position_keys.dim() == 3
            else self.position_keys
        )
        plain = by_hand(layer.selection, layer.normaliser)
        choices = () if plain else (*layer.selection.parameters(), *layer.normaliser.parameters())
        weights = q.numel() // q.size(-1) * reach * q.element_size() * (1 if plain else KEPT_BY_AUTOGRAD)
        bucket = HeadGroup(
            heads=len(heads),
            reach=reach,
            span=layer.span,
            selection=layer.selection,
            normaliser=layer.normaliser,
            flat=layer.span.flat(z),
            attends_self=layer.attends_self,
            drop=layer.drop,
            seed=int(torch.randint(2**62, ())) if layer.drop else 0,
            grad=torch.is_grad_enabled(),
            keep=torch.is_grad_enabled() and weights <= KEEP_BYTES,
        )
        return bucket, (q, r, k, v, position_keys, z, [self._own(one, heads) for one in choices])

    def _own(self, parameter: Tensor, heads: tuple[int, ...]) -> Tensor:
        """A choice's parameter for these heads: a row each, or one that all share."""
        by_head = parameter.dim() and parameter.size(0) == self.layer.shape.heads
        return pick_heads(parameter, heads, 0) if by_head else parameter


def every_key(layer, x: Tensor, past: Past) -> tuple[Tensor, Tensor]:
    """In evaluation, keys and values of memory and block, B h K d; zeros where a bucket remembers less than another."""
    made = buckets(layer, layer.span.extent(x))
    memory, max_length = KeysAndValues(layer, x, past), max(map(len, past)) + x.size(1)
    pairs = [memory.of(number, heads, max_length) for number, (heads, _) in enumerate(made)]
    sides = (
        [_first_padded(part, max_length).permute(1, 2, 0, 3) for part in side] for side in zip(*pairs, strict=True)
    )
    return tuple(_in_order(side, [heads for heads, _ in made]) for side in sides)


def _first_padded(part: Tensor, length: int) -> Tensor:
    """K .. -> length .., zeros before the first."""
    return torch.cat([part.new_zeros(length - len(part), *part.shape[1:]), part])
