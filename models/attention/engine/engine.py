"""The same numbers as the definition without computing what no head can see.

Four routes lead to them; `Engine.route` chooses one for a layer, and says why:

    compiled    all heads at once in C, each with the keys of its own reach: on a CPU, a stream in
                training or a whole sequence
    definition  the formula itself: on a GPU, a stream in training, with as many keys as the
                farthest head reaches; elsewhere, a whole sequence that the compiled library cannot
                compute
    chunks      the formula for a few queries after the other: such a stream, where all scores at
                once do not fit into memory, and the kernel cannot compute it
    groups      heads of like reach together, each group with keys and values of its own reach
                alone, projections included, in C, Triton or torch, as `Backend.choose` says
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ..formula import Definition, attend_block
from ..variant import (
    Past,
    Variant,
    farthest,
    for_all_heads,
    sequence_scales,
    stream_scales,
)
from .backend import Backend, Route, kernel_obstacle_of
from .caches import Inputs, KeysAndValues
from .chunks import attend_in_chunks
from .groups import (
    BlockQueries,
    HeadGroup,
    Operands,
    evaluation_groups,
    head_groups,
    head_index,
    head_reaches,
)
from .projections import project_by_head

Projected = tuple[Tensor, Tensor, Tensor]  # queries B h T dk, keys B h N dk and values B h N dv


class Computed(NamedTuple):
    """What was computed for a group of heads of a block: how many heads, reach, keys projected.

    first: keys at the beginning that every query met as well; columns: position keys for these.
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

    def __init__(self, backend: str = "auto", layers: int = 1):
        """Take a name of `backend.ENGINE_BACKENDS`; ValueError for another.

        layers: how many share it.
        """
        self.backend = Backend(backend)
        self.layers = layers

    def route(self, layer, x: Tensor, *, is_stream: bool, keys: int = 0) -> Route:
        """Choose how a layer computes attention for inputs x, and say why: see above.

        keys: how many the definition would score for each query of a stream.
        """
        obstacle = self.backend.layer_obstacle(layer, x)
        if not is_stream:
            # Sequences are short: the engine has no groups for them.
            if obstacle:
                return Route("definition", f"compiled: {obstacle}")
            return Route("compiled", "one call computes all heads of a whole sequence")
        # In evaluation keys and values are cached by group: of each head only what it reaches.
        if not layer.training:
            return Route("groups", "in evaluation each group of heads has a cache")
        if not obstacle:
            return Route("compiled", "one call computes all heads of a block in training")
        too_large = self.backend.definition_obstacle(layer, x, keys, self.layers)
        if not too_large:
            return Route("definition", "its scores fit into memory, and it launches fewest kernels")
        if self.backend.may_take_definition(layer, x):
            no_kernel = self.backend.kernel_fault or kernel_obstacle_of(layer)
            if no_kernel:
                return Route("chunks", f"definition: {too_large}; triton: {no_kernel}")
        return Route("groups", f"compiled: {obstacle}; definition: {too_large}")

    def start(self, layer, batch: int) -> Past:
        """Make the cache of streams that have not begun.

        In training it holds inputs (0 B d), in evaluation keys and values (0 B g c) of each group
        of heads. In evaluation the groups of this moment stay those of the layer until the next
        start.
        """
        weight = layer.key.weight
        shape = layer.shape
        for cache in layer.caches:
            cache.clear()
        if layer.training:
            inputs = weight.new_empty(0, batch, shape.d_model)
            return (inputs,)
        layer.window.check()
        layer.partition = evaluation_groups(layer)
        parts = []
        for heads in layer.partition:
            # Heads of queries that share a head of keys are in the same group.
            count = len(heads) // shape.sharing
            keys = weight.new_empty(0, batch, count, shape.d_k)
            values = weight.new_empty(0, batch, count, shape.d_v)
            parts += [keys, values]
        return tuple(parts)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cache -> B T h dv, and the next block's cache.

        The output is that before the output projection. No gradient reaches the cache. In
        evaluation it holds keys and values. `layer.computed` says what was computed for it.
        """
        window = None
        keys = 0
        if self.backend.may_take_definition(layer, x):
            window, keys = self.window(layer, x, past)
        route = self.route(layer, x, is_stream=True, keys=keys)
        if x.device.type != "cpu":
            self.backend.reasons.setdefault(route.code, route.reason)
        if route.code in ("definition", "chunks"):
            return self._attend_within(route.code, layer, x, past, window, keys)
        # None, h 1 1 or B h T 1
        z = layer.span.extent(x)
        if route.code == "compiled":
            return self._attend_all_heads(layer, x, past, z)
        return self._attend_by_groups(layer, x, past, z)

    def window(self, layer, x: Tensor, past: Past) -> tuple[int, int]:
        """Return how many keys a query of a block meets at most, and how many are scored for it.

        Asked once for each block: see `Window.of`.
        """
        (inputs,) = past
        T = x.size(1)
        window = min(layer.window.of(layer, x), len(inputs) + T)
        scored = min(len(inputs), window + layer.span.first) + T
        return window, scored

    def _attend_within(
        self, code: str, layer, x: Tensor, past: Past, window: int, keys: int
    ) -> tuple[Tensor, Past]:
        """Attend by the definition, with at most `window` keys for a query, of `keys` in all."""
        layer.computed = [Computed(layer.shape.heads, window, keys)]
        self.backend.count_block(code, layer, x, window, x.size(1))
        if code == "chunks":
            return attend_block(layer, x, past, window, attend_in_chunks)
        return attend_block(layer, x, past, window)

    def _attend_by_groups(
        self, layer, x: Tensor, past: Past, z: Tensor | None
    ) -> tuple[Tensor, Past]:
        """Attend with the heads of each group apart from the others."""
        # Not tensors, also while torch traces the shapes.
        B = int(x.size(0))
        T = int(x.size(1))
        K = max(map(len, past)) + T
        # The most keys that the last query of the block can see.
        available = K - 1 + layer.attends_self
        groups = head_groups(layer, z, B * T)
        farthest_reach = max(reach for _, reach in groups)
        widest = min(farthest_reach, available)

        q = layer.split(layer.query(x))  # B h T dk
        s = stream_scales(layer, x, K, T, x.device)
        queries = BlockQueries(
            layer,
            q,
            z,
            widest=widest,
            keys=K,
            s=s,
        )
        # Under autocast x is in 32 bits, what is multiplied with it in 16.
        x = x.to(queries.content.dtype)
        kind = Inputs if layer.training else KeysAndValues
        cache = kind(layer, x, past)
        first = layer.span.first
        layer.computed = []
        outputs = []
        for number, (heads, reach) in enumerate(groups):
            reach = min(reach, available)
            # The block itself, and what its first query reaches before it.
            last = slice(-(T + reach), None)
            k, v = cache.keys_and_values(number, heads, last)
            computed = Computed(len(heads), reach, keys=len(k))
            place = K - len(k)
            seen = keys_of_queries(layer, k, v, place)
            group, operands = queries.of(heads, reach, *seen)
            if first:
                k, v = cache.keys_and_values(number, heads, slice(first))
                seen = keys_of_queries(layer, k, v, place=0)
                group = queries.with_first(group, heads, *seen)
                computed = computed._replace(
                    first=len(k),
                    columns=group.first.columns,
                )
            layer.computed.append(computed)
            y = self._attend_group(group, operands)
            outputs.append(y)
        heads_of_groups = [heads for heads, _ in groups]
        y = _in_order(outputs, heads_of_groups)  # B h T dv
        next_past = cache.next_past(groups)
        return y.transpose(1, 2), next_past

    def _attend_group(self, group: HeadGroup, operands: Operands) -> Tensor:
        """Let the backend choose the code for a group, and attend with it: B g T dv."""
        route = self.backend.choose(group, operands)
        return self.backend.attend(route.code, group, operands)

    def attend_alone(
        self,
        variant: Variant,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        reach: int,
    ) -> Tensor:
        """Attend with queries, keys and values that no layer projected -> B h T dv.

        q: B h T dk, k: B g K dk, v: B g K dv, the last T of K keys the queries' own. reach: the
        most keys that a query may see.
        """
        _, h, T, _ = q.shape
        K = k.size(2)
        # One group of all heads: there is no cache whose parts could differ by head.
        heads = tuple(range(h))
        z = variant.span.extent(None)
        available = K - 1 + variant.attends_self
        longest = int(variant.span.reach(z).max())
        reach = min(longest, reach, available)
        s = stream_scales(variant, None, K, T, q.device)
        queries = BlockQueries(
            variant,
            q,
            z,
            widest=reach,
            keys=K,
            s=s,
        )

        k = k.permute(2, 0, 1, 3)  # time first: K B g dk
        v = v.permute(2, 0, 1, 3)
        # Keys before are out of reach of every query.
        start = max(0, K - T - reach)
        seen = keys_of_queries(variant, k[start:], v[start:], place=start)
        group, operands = queries.of(heads, reach, *seen)
        first = variant.span.first
        if first:
            seen = keys_of_queries(variant, k[:first], v[:first], place=0)
            group = queries.with_first(group, heads, *seen)
        return self._attend_group(group, operands)

    def _attend_all_heads(
        self, layer, x: Tensor, past: Past, z: Tensor | None
    ) -> tuple[Tensor, Past]:
        """Attend, in training, by the compiled library.

        There are no groups: each head has the keys of its own reach.
        """
        T = x.size(1)
        cache = Inputs(layer, x, past)
        K = len(cache.rows)
        # The most keys that the last query of the block can see.
        available = K - 1 + layer.attends_self
        reaches = [min(reach, available) for reach in head_reaches(layer, z)]
        # Rows that each head projects: the block, and what its first query reaches before it.
        counts = tuple(min(K, T + reach) for reach in reaches)
        q, k, v = project_by_head(cache.x, layer, cache.rows, counts)

        # One group of all heads, but with counts of rows by head.
        heads = tuple(range(len(reaches)))
        widest = max(reaches)
        s = stream_scales(layer, x, K, T, x.device)
        queries = BlockQueries(
            layer,
            q,
            z,
            widest=widest,
            keys=K,
            scaled=False,  # C multiplies queries by 1 / sqrt(dk) as it reads them
            s=s,
        )
        group, operands = queries.of(heads, widest, k, v)
        layer.computed = []
        for reach, keys in zip(reaches, counts, strict=True):
            layer.computed.append(Computed(1, reach, keys))
        y = self.backend.attend_layer(group, operands, layer.shape, counts)
        next_past = cache.next_past([(heads, widest)])
        return y.transpose(1, 2), next_past

    def attend_sequence(self, layer, x: Tensor, projected: Projected, visible: Tensor) -> Tensor:
        """Compute what `Definition.attend_sequence` does, by it where nothing is compiled."""
        route = self.route(layer, x, is_stream=False)
        if route.code == "definition":
            return Definition().attend_sequence(layer, x, projected, visible)
        z = layer.span.extent(x)
        reach = farthest(layer, visible.size(1))
        heads = tuple(range(layer.shape.heads))
        q, k, v = projected
        # Attention to another sequence has no positions.
        widest = reach if layer.reads_itself else 0
        N = k.size(2)
        s = sequence_scales(layer, x, visible, reach)
        queries = BlockQueries(
            layer,
            q,
            z,
            widest=widest,
            keys=N,
            scaled=False,
            s=s,
        )
        places = torch.arange(N, device=k.device)
        k = layer.position.turn(k, places)
        group, operands = queries.of(heads, reach, k, v)
        return self.backend.attend_sequence(
            group,
            operands,
            visible,
            layer.reads_itself,
        )


def keys_of_queries(variant: Variant, k: Tensor, v: Tensor, place: int) -> tuple[Tensor, Tensor]:
    """Let the position turn keys, and give all heads of queries their keys and values.

    k: K B g dk, the first of them at a place; v: K B g dv -> K B h dk and K B h dv.
    """
    places = torch.arange(place, place + len(k), device=k.device)
    k = variant.position.turn(k, places[:, None, None])
    shape = variant.shape
    return for_all_heads(k, shape, 2), for_all_heads(v, shape, 2)


def every_key(layer, x: Tensor, past: Past) -> tuple[Tensor, Tensor]:
    """Return keys and values of cache and block in evaluation: B h K d.

    They are zeros where a group cached less.
    """
    z = layer.span.extent(x)
    groups = head_groups(layer, z)
    cache = KeysAndValues(layer, x, past)
    T = x.size(1)
    longest = max(map(len, past)) + T

    def prepared(rows: Tensor) -> Tensor:
        padded = _padded(rows, longest)
        of_queries = for_all_heads(padded, layer.shape, 2)  # K B g d
        return of_queries.permute(1, 2, 0, 3)

    keys = []
    values = []
    for number, (heads, _) in enumerate(groups):
        k, v = cache.keys_and_values(number, heads, slice(None))
        keys.append(prepared(k))
        values.append(prepared(v))
    order = [heads for heads, _ in groups]
    return _in_order(keys, order), _in_order(values, order)


def _padded(rows: Tensor, length: int) -> Tensor:
    """Put zeros before the first row: K .. -> length .."""
    count, *sizes = rows.shape
    missing = length - count
    zeros = rows.new_zeros(missing, *sizes)
    return torch.cat([zeros, rows])


def _in_order(parts: list[Tensor], groups: list[tuple[int, ...]]) -> Tensor:
    """Put the heads of all groups into their order: B g T dv of each group -> B h T dv."""
    if len(parts) == 1:
        return parts[0]
    heads: list[int] = []
    for group in groups:
        heads += group
    # Where each head, in order, is among the groups'.
    places = sorted(range(len(heads)), key=heads.__getitem__)
    order = head_index(tuple(places), parts[0].device)
    # The output projection reads B T h dv: heads are joined in that order, so that nothing is
    # copied once more.
    by_time = [part.transpose(1, 2) for part in parts]
    joined = torch.cat(by_time, 2)
    return joined.index_select(2, order).transpose(1, 2)
