"""The same numbers as the definition without computing what no head can see.

Heads are computed in groups of like reach; each group has keys and values of its own reach alone,
projections included.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ..formula import Definition
from .backend import Backend
from .caches import Inputs, KeysAndValues, Past
from .groups import (
    BlockQueries,
    evaluation_groups,
    for_all_heads,
    head_groups,
    head_index,
    head_reaches,
)
from .projections import project_by_head

Projected = tuple[Tensor, Tensor, Tensor]  # queries B h T dk, keys B h N dk and values B h N dv


class Computed(NamedTuple):
    """What was computed for a group of heads of a block: how many heads, reach, keys projected.

    first: keys at the beginning that every query met beside them; columns: position keys for these.
    """

    heads: int
    reach: int
    keys: int
    first: int = 0
    columns: int = 0


class Engine:
    """Computes layers of attention over streams; several layers may share one, so that choices are
    counted together.
    """

    def __init__(self, backend: str = "auto"):
        """Take a name of `backend.ENGINE_BACKENDS`; ValueError for another."""
        self.backend = Backend(backend)

    def start(self, layer, batch: int) -> Past:
        """Make the cache of streams that have not begun.

        In training it holds inputs (0 B d), in evaluation keys and values (0 B g c) of each group
        of heads. In evaluation the groups of this moment stay those of the layer until the next
        start.
        """
        weight, shape = layer.key.weight, layer.shape
        for cache in layer.caches:
            cache.clear()
        if layer.training:
            return (weight.new_empty(0, batch, shape.d_model),)
        layer.partition = evaluation_groups(layer)
        widths = (shape.d_k, shape.d_v)
        counts = [len(heads) // shape.sharing for heads in layer.partition]
        return tuple(weight.new_empty(0, batch, count, c) for count in counts for c in widths)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cache -> B T h dv before the output projection, and the next
        block's cache.

        No gradient reaches the cache. In evaluation it holds keys and values.
        """
        z = layer.span.extent(x)
        B, T = int(x.size(0)), int(x.size(1))
        K = max(map(len, past)) + T
        at_hand = K - 1 + layer.attends_self
        if layer.training and self.backend.takes_layer(layer, x):
            return self._attend_layer(layer, x, past, z, at_hand)
        groups = head_groups(layer, z, B * T)
        widest = min(max(reach for _, reach in groups), at_hand)
        queries = BlockQueries(layer, layer.split(layer.query(x)), z, widest, K)
        cache = (Inputs if layer.training else KeysAndValues)(
            layer, x.to(queries.content.dtype), past
        )
        layer.shapes, parts = [], []
        for number, (heads, reach) in enumerate(
            (heads, min(reach, at_hand)) for heads, reach in groups
        ):
            k, v = cache.keys_and_values(number, heads, slice(-(T + reach), None))
            computed = Computed(len(heads), reach, len(k))
            group, tensors = queries.of(heads, reach, *keys_of_queries(layer, k, v, K - len(k)))
            if layer.span.first:
                k, v = cache.keys_and_values(number, heads, slice(layer.span.first))
                group = queries.beside_first(group, heads, *keys_of_queries(layer, k, v, 0))
                computed = computed._replace(first=len(k), columns=group.first.columns)
            q, _, _, v, position_keys, *_ = tensors
            name = self.backend.choose(group, q, v, position_keys)
            layer.shapes.append(computed)
            parts.append(self.backend.attend(name, group, *tensors))
        return _in_order(parts, [heads for heads, _ in groups]).transpose(1, 2), cache.next_past(
            groups
        )

    def _attend_layer(
        self, layer, x: Tensor, past: Past, z: Tensor | None, at_hand: int
    ) -> tuple[Tensor, Past]:
        """Attend, in training, by the compiled library: no groups, each head has keys of its own
        reach.
        """
        reaches = [min(reach, at_hand) for reach in head_reaches(layer, z)]
        heads, widest = tuple(range(len(reaches))), max(reaches)
        cache = Inputs(layer, x, past)
        counts = tuple(min(len(cache.rows), x.size(1) + reach) for reach in reaches)
        q, k, v = project_by_head(cache.x, layer, cache.rows, counts)
        queries = BlockQueries(layer, q, z, widest, len(cache.rows), scaled=False)
        group, tensors = queries.of(heads, widest, k, v)
        layer.shapes = [Computed(1, *sizes) for sizes in zip(reaches, counts, strict=True)]
        y = self.backend.attend_layer(group, tensors, layer.shape, counts)
        return y.transpose(1, 2), cache.next_past([(heads, widest)])

    def attend_sequence(self, layer, x: Tensor, projected: Projected, visible: Tensor) -> Tensor:
        """Compute what `Definition.attend_sequence` does, by it where nothing is compiled."""
        if not self.backend.takes_layer(layer, x):
            return Definition().attend_sequence(layer, x, projected, visible)
        z, reach = layer.span.extent(x), min([*layer.bounds(), visible.size(1)])
        heads = tuple(range(layer.shape.heads))
        q, k, v = projected
        widest = reach if layer.reads_itself else 0
        queries = BlockQueries(layer, q, z, widest, k.size(2), scaled=False)
        k = layer.position.turn(k, torch.arange(k.size(2), device=k.device))
        group, tensors = queries.of(heads, reach, k, v)
        return self.backend.attend_sequence(group, tensors, visible, layer.reads_itself)


def keys_of_queries(layer, k: Tensor, v: Tensor, place: int) -> tuple[Tensor, Tensor]:
    """Let the position turn keys K B g dk, the first of them at a place; and give all heads of
    queries their keys.
    """
    k = layer.position.turn(k, torch.arange(place, place + len(k), device=k.device)[:, None, None])
    return for_all_heads(k, layer.shape, 2), for_all_heads(v, layer.shape, 2)


def every_key(layer, x: Tensor, past: Past) -> tuple[Tensor, Tensor]:
    """Return keys and values of cache and block in evaluation: B h K d; zeros where a group cached
    less.
    """
    groups = head_groups(layer, layer.span.extent(x))
    cache, longest = KeysAndValues(layer, x, past), max(map(len, past)) + x.size(1)
    pairs = [
        cache.keys_and_values(number, heads, slice(None))
        for number, (heads, _) in enumerate(groups)
    ]
    keys, values = (
        [
            for_all_heads(_padded(rows, longest), layer.shape, 2).permute(1, 2, 0, 3)
            for rows in groups_rows
        ]
        for groups_rows in zip(*pairs, strict=True)
    )
    order = [heads for heads, _ in groups]
    return _in_order(keys, order), _in_order(values, order)


def _padded(rows: Tensor, length: int) -> Tensor:
    """Put zeros before the first row: K .. -> length .."""
    return torch.cat([rows.new_zeros(length - len(rows), *rows.shape[1:]), rows])


def _in_order(parts: list[Tensor], groups: list[tuple[int, ...]]) -> Tensor:
    """Put the heads of all groups into their order: B g T dv of each group -> B h T dv."""
    if len(parts) == 1:
        return parts[0]
    heads = [head for group in groups for head in group]
    order = head_index(tuple(sorted(range(len(heads)), key=heads.__getitem__)), parts[0].device)
    return (
        torch.cat([part.transpose(1, 2) for part in parts], 2)
        .index_select(2, order)
        .transpose(1, 2)
    )
