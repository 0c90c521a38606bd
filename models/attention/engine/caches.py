"""What a layer keeps of its streams, and the keys and values that follow from it.

In training a layer caches its inputs and projects them anew with the weights of the step, without
gradient into the past. In evaluation, where weights do not change, it caches the keys and values of
each group of heads instead.
"""

import torch
from torch import Tensor

from ..variant import Past, cached_length
from .groups import Partition, key_heads, pick_heads

SLACK = 4  # a new buffer has room for a quarter more rows, so that rows are seldom copied


def streams(past: list[Past], rows) -> list[Past]:
    """Keep the caches of some streams alone, by layer. rows: a slice or an index."""
    by_layer = []
    for parts in past:
        kept = []
        for part in parts:  # K B ..: streams are the second axis
            is_index = isinstance(rows, Tensor)
            selected = _selected(part, rows) if is_index else part[:, rows]
            kept.append(selected)
        by_layer.append(tuple(kept))
    return by_layer


def _selected(part: Tensor, rows: Tensor) -> Tensor:
    """Copy some streams, with room behind them that the next `append` takes over.

    Beams move at every step: without the room each step would copy them once more.
    """
    _, _, *sizes = part.shape
    count = len(part)
    capacity = count + count // SLACK + 1
    buffer = part.new_empty(capacity, len(rows), *sizes)
    selected = torch.index_select(part, 1, rows, out=buffer[:count])
    # An attribute of the tensor, for there is no other place that travels with it.
    selected.room = buffer
    return selected


class StreamCache:
    """The buffer that holds the rows returned last. Rows that were returned are never written
    again.
    """

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        """Release the buffer; rows that were returned stay valid."""
        self.buffer = torch.empty(0)
        self.stop = 0

    def append(self, past: Tensor, new: Tensor) -> Tensor:
        """Join past: K B c and new: T B c -> K + T B c, without gradient.

        Rows are copied only where `past` is not what was returned last, or the buffer is full.
        ValueError for rows of other sizes: a cache of another number of streams, or one that was
        made in training for a layer in evaluation.
        """
        if past.shape[1:] != new.shape[1:]:
            raise ValueError(
                f"a cache {tuple(past.shape)} does not fit new rows {tuple(new.shape)}"
            )
        room = past.__dict__.pop("room", None)
        if room is not None:  # the first to append to what `_selected` made
            self.buffer = room
            self.stop = len(past)
        # No gradient goes into the past.
        past = past.detach()
        new = new.detach()
        size = len(past) + len(new)
        needed = self.stop + len(new)
        is_full = needed > len(self.buffer)
        # Rows of the past are copied only here.
        if is_full or not self._ends_with(past, new):
            _, *sizes = new.shape
            capacity = size + size // SLACK
            self.buffer = new.new_empty(capacity, *sizes)
            self.buffer[: len(past)] = past
            self.stop = len(past)
        start = self.stop
        stop = start + len(new)
        self.buffer[start:stop] = new
        self.stop = stop
        return self.buffer[stop - size : stop]

    def _ends_with(self, past: Tensor, new: Tensor) -> bool:
        """Return whether the buffer ends, at `stop`, with `past`, so that `new` may follow it."""
        buffer = self.buffer
        if past.device != buffer.device:
            return False
        if not past.dtype == new.dtype == buffer.dtype:
            return False
        if past.shape[1:] != buffer.shape[1:]:
            return False
        if not past.numel() or not past.is_contiguous():
            return False
        # The same memory, and nothing after it in use.
        rows = buffer[: self.stop]
        end_of_past = past.data_ptr() + past.nbytes
        end_of_rows = rows.data_ptr() + rows.nbytes
        return end_of_past == end_of_rows


class Inputs:
    """In training: the inputs, projected anew for each group."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer = layer
        (inputs,) = past  # K B d
        self.x = x.transpose(0, 1)  # T B d
        self.rows = layer.caches[0].append(inputs, self.x)  # (K + T) B d

    def keys_and_values(
        self, number: int, heads: tuple[int, ...], rows: slice
    ) -> tuple[Tensor, Tensor]:
        """Return the keys K B g dk and values K B g dv of some rows, g heads of keys, for group
        `number`.
        """
        start, stop, _ = rows.indices(len(self.rows))
        # The rows before `own` are the past, the others the block's.
        own = len(self.rows) - len(self.x)
        # `.data`: autograd must not see that the buffer is appended to, for these rows stay.
        past = self.rows[start : min(stop, own)].data
        first = max(0, start - own)
        last = max(0, stop - own)
        x = self.x[first:last]
        g = len(heads) // self.layer.shape.sharing

        # The past without gradient, the block with it: one product each.
        def project(weight: Tensor) -> Tensor:
            matrix = weight.T.to(self.rows.dtype)
            of_past = past @ matrix
            of_block = x @ matrix
            projected = torch.cat([of_past, of_block])
            return projected.unflatten(-1, (g, -1))

        k_weight, v_weight = _projection_matrices(self.layer, heads)
        return project(k_weight), project(v_weight)

    def next_past(self, groups: Partition) -> Past:
        """Return the inputs that the layer keeps for the next block."""
        span = self.layer.span
        # Of all heads the same inputs: as many as the farthest-seeing needs.
        window = max(reach for _, reach in groups)
        length = cached_length(self.layer, window)
        kept = span.keep(self.rows, length)
        return (kept,)


class KeysAndValues:
    """In evaluation: each group's own keys and values, one part after the other."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer = layer
        x = x.transpose(0, 1)  # T B d
        g = layer.shape.key_heads
        k = layer.key(x).unflatten(-1, (g, -1))  # T B g dk
        v = layer.value(x).unflatten(-1, (g, -1))  # T B g dv
        parts = []
        for heads in layer.partition:
            shared = key_heads(heads, layer.shape)
            parts.append(pick_heads(k, shared, 2))
            parts.append(pick_heads(v, shared, 2))
        # A layer has caches for as many groups as it has heads: there may be fewer parts.
        self.rows = []
        for cache, old, part in zip(layer.caches, past, parts, strict=False):
            self.rows.append(cache.append(old, part))

    def keys_and_values(
        self, number: int, heads: tuple[int, ...], rows: slice
    ) -> tuple[Tensor, Tensor]:
        """Return the keys K B g dk and values K B g dv of some rows, g heads of keys, for group
        `number`.
        """
        k = self.rows[2 * number]
        v = self.rows[2 * number + 1]
        return k[rows], v[rows]

    def next_past(self, groups: Partition) -> Past:
        """Keep for each group what it reaches, or what its span needs where reach depends on the
        input.
        """
        span = self.layer.span
        parts = []
        for number, (_, reach) in enumerate(groups):
            # The next block's inputs may reach farther than this one's.
            keeps_more = span.follows_input or self.layer.score_scale.counts_keys
            length = cached_length(self.layer, reach) if keeps_more else reach
            keys = self.rows[2 * number]
            values = self.rows[2 * number + 1]
            parts.append(span.keep(keys, length))
            parts.append(span.keep(values, length))
        return tuple(parts)


def _projection_matrices(layer, heads: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return W_k and W_v of these heads: g dk d and g dv d, heads of keys one below the other."""
    shape = layer.shape
    shared = key_heads(heads, shape)

    def of_heads(weight: Tensor) -> Tensor:
        by_head = weight.unflatten(0, (shape.key_heads, -1))  # all heads of keys: h' c d
        picked = pick_heads(by_head, shared, 0)
        return picked.flatten(0, 1)

    return of_heads(layer.key.weight), of_heads(layer.value.weight)
