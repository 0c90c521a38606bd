"""The same numbers as the definition without computing what no head can see.

Heads are taken in buckets by how far they reach; each bucket has keys and values of its own reach alone, projections
included. In training a layer remembers its inputs and projects them anew with the weights of the step, without
gradient into the past; in evaluation, where weights stand still, it remembers each bucket's keys and values instead.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from models.attention.bucket import Bucket
from models.attention.dispatch import attend_bucket, choose
from models.attention.memory import Past
from models.attention.projected import project

STEP = 64  # heads whose reaches end in the same step share a bucket: products stay large
KEEP_BYTES = 256 << 20  # of weights that a layer may keep for the way back; beyond, they are computed again


class Computed(NamedTuple):
    """What was computed for a bucket of a block, for whoever counts: heads, reach, keys projected, by which code."""

    heads: int
    reach: int
    keys: int
    name: str = "band"


def start(layer, batch: int) -> Past:
    """The memory of streams that have not begun: inputs in training (0 B d), else a part for each bucket of heads."""
    weight, shape = layer.key.weight, layer.shape
    if layer.training:
        return (weight.new_empty(0, batch, shape.width),)
    made = (
        [range(shape.heads)]
        if layer.span.follows_input
        else [heads for heads, _ in buckets(layer, layer.span.extent(None))]
    )
    return tuple(weight.new_empty(0, batch, len(heads), c) for heads in made for c in (shape.key, shape.value))


def attend(layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
    """x: B T d and the memory before it -> y: B T h dv before the output projection, and the memory after it."""
    z = layer.span.extent(x)
    made, at_hand = buckets(layer, z), max(map(len, past)) + x.size(1) - 1 + layer.attends_self
    memory = (_Inputs if layer.training else _KeysAndValues)(layer, x, past)
    asked = _Asked(layer, x, z, min(max(reach for _, reach in made), at_hand))
    layer.shapes, parts = [], []
    for number, (heads, reach) in enumerate(made):
        k, v = memory.of(number, heads, min(reach, at_hand))
        bucket, tensors = asked.of(heads, min(reach, at_hand), k, v)
        q, _, _, _, places, own, _ = tensors
        name = choose(bucket, q, places, own)
        layer.shapes.append(Computed(len(heads), bucket.reach, len(k), name))
        parts.append(attend_bucket(name, bucket, *tensors))
    return _in_order(parts, [heads for heads, _ in made]).transpose(1, 2), memory.kept(made)


def buckets(layer, z: Tensor | None) -> list[tuple[list[int], int]]:
    """Heads whose reaches end in the same step, and the farthest of these reaches; the nearest bucket first.

    Where reach depends on the input, what is remembered in evaluation must serve any input: one bucket.
    """
    reaches = [min([*layer.bounds(), reach]) for reach in layer.span.reach(z).tolist()]
    if layer.span.follows_input and not layer.training:
        return [(list(range(len(reaches))), max(reaches))]
    found: dict[int, list[int]] = {}
    for head, reach in enumerate(reaches):
        found.setdefault(math.ceil(reach / STEP), []).append(head)
    return [(found[step], max(reaches[head] for head in found[step])) for step in sorted(found)]


def _some(x: Tensor, heads: list[int], axis: int) -> Tensor:
    """These heads alone; all of them are not copied."""
    return x if len(heads) == x.size(axis) else x.index_select(axis, torch.tensor(heads, device=x.device))


def _in_order(parts: list[Tensor], heads: list[list[int]]) -> Tensor:
    """B g T dv of each bucket -> B h T dv."""
    if len(parts) == 1:
        return parts[0]
    place = {head: number for number, head in enumerate(head for bucket in heads for head in bucket)}
    order = torch.tensor([place[head] for head in range(len(place))], device=parts[0].device)
    together = torch.cat([part.transpose(1, 2) for part in parts], 2)
    return together.index_select(2, order).transpose(1, 2)


class _Asked:
    """What the queries of a block ask, bucket by bucket."""

    def __init__(self, layer, x: Tensor, z: Tensor | None, widest: int):
        self.layer, self.z, position = layer, z, layer.position
        q, scale = layer.split(layer.query(x)), 1 / math.sqrt(layer.shape.key)
        self.content = position.content(q) * scale
        self.places = position.keys(widest) if widest else None
        self.place = None if self.places is None else position.query(q) * scale

    def of(self, heads: list[int], reach: int, k: Tensor, v: Tensor) -> tuple[Bucket, tuple]:
        """The bucket of these heads, and the tensors that `attend_band` takes."""
        layer, (q, r, z) = (
            self.layer,
            (x if x is None else _some(x, heads, -3) for x in (self.content, self.place, self.z)),
        )
        places = _some(self.places, heads, 0) if self.places is not None and self.places.dim() == 3 else self.places
        choices = (*layer.selection.parameters(), *layer.normaliser.parameters())
        weights = q.numel() // q.size(-1) * reach * q.element_size()
        bucket = Bucket(
            heads=len(heads),
            reach=reach,
            span=layer.span,
            selection=layer.selection,
            normaliser=layer.normaliser,
            flat=layer.span.flat(z),
            attends_self=layer.attends_self,
            drop=layer.drop,
            seed=int(torch.randint(2**62, ())) if layer.drop else 0,
            keep=weights <= KEEP_BYTES,
        )
        return bucket, (q, r, k, v, places, z, [_some(one, heads, 0) for one in choices])


class _Inputs:
    """In training: the inputs, projected anew for each bucket."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.x = layer, x.transpose(0, 1)
        self.rows = layer.memories[0].append(past[0], self.x)

    def of(self, number: int, heads: list[int], reach: int) -> list[Tensor]:
        """Keys K B g dk and values K B g dv that these heads reach."""
        rows = self.rows[-(len(self.x) + reach) :]
        return [project(self.x, weight, rows).unflatten(-1, (len(heads), -1)) for weight in _weights(self.layer, heads)]

    def kept(self, made: list) -> Past:
        return (self.rows[-self.layer.span.remember(max(reach for _, reach in made)) :],)


class _KeysAndValues:
    """In evaluation: each bucket's own keys and values."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.x, self.past, self.rows = layer, x.transpose(0, 1), past, []

    def of(self, number: int, heads: list[int], reach: int) -> list[Tensor]:
        for side, weight in enumerate(_weights(self.layer, heads), 2 * number):
            new = (self.x @ weight.T).unflatten(-1, (len(heads), -1))
            self.rows.append(self.layer.memories[side].append(self.past[side], new))
        return [rows[-(len(self.x) + reach) :] for rows in self.rows[-2:]]

    def kept(self, made: list) -> Past:
        """A bucket keeps what it reaches, or what its span asks for where that depends on the input."""
        span = self.layer.span
        keep = [span.remember(reach) if span.follows_input else reach for _, reach in made for _ in range(2)]
        return tuple(rows[-count:] for rows, count in zip(self.rows, keep, strict=True))


def _weights(layer, heads: list[int]) -> tuple[Tensor, Tensor]:
    """W_k and W_v of these heads: g dk d and g dv d, heads one below the other."""
    sides = (side.weight.unflatten(0, (layer.shape.heads, -1)) for side in (layer.key, layer.value))
    return tuple(_some(side, heads, 0).flatten(0, 1) for side in sides)


def every_key(layer, x: Tensor, past: Past) -> tuple[Tensor, Tensor]:
    """In evaluation, keys and values of memory and block, B h K d; zeros where a bucket remembers less than another."""
    made = buckets(layer, layer.span.extent(x))
    memory, longest = _KeysAndValues(layer, x, past), max(map(len, past)) + x.size(1)
    pairs = [memory.of(number, heads, longest) for number, (heads, _) in enumerate(made)]
    sides = ([_first_padded(part, longest).permute(1, 2, 0, 3) for part in side] for side in zip(*pairs, strict=True))
    return tuple(_in_order(side, [heads for heads, _ in made]) for side in sides)


def _first_padded(part: Tensor, length: int) -> Tensor:
    """K .. -> length .., zeros before the first."""
    return torch.cat([part.new_zeros(length - len(part), *part.shape[1:]), part])
