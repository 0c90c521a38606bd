"""What a layer keeps of its streams, and the keys and values that follow from it.

In training a layer caches its inputs and projects them anew with the weights of the step, without
gradient into the past. In evaluation, where weights do not change, it caches the keys and values of
each group of heads instead.
"""

import torch
from torch import Tensor

from .groups import Partition, key_heads, pick_heads

# a layer's cache in one or several parts, time first, streams second: K B ..
Past = tuple[Tensor, ...]

SLACK = 4  # a new buffer has room for a quarter more rows, so that rows are seldom copied


def streams(past: list[Past], rows) -> list[Past]:
    """Keep the caches of some streams alone, by layer. rows: a slice or an index."""
    if isinstance(rows, Tensor):
        return [tuple(_selected(part, rows) for part in parts) for parts in past]
    return [tuple(part[:, rows] for part in parts) for parts in past]


def _selected(part: Tensor, rows: Tensor) -> Tensor:
    """Copy some streams, with room behind them that the next `append` takes over: beams move at
    every step.
    """
    buffer = part.new_empty(len(part) + len(part) // SLACK + 1, len(rows), *part.shape[2:])
    selected = torch.index_select(part, 1, rows, out=buffer[: len(part)])
    selected.room = buffer
    return selected


class StreamCache:
    """The buffer that holds the rows returned last. Rows that were returned are never written
    again.
    """

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        """Release the buffer; rows that were returned stay with whoever holds them."""
        self.buffer, self.stop = torch.empty(0), 0

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
        if (room := past.__dict__.pop("room", None)) is not None:  # the first to append to it
            self.buffer, self.stop = room, len(past)
        past, new = past.detach(), new.detach()
        size = len(past) + len(new)
        if not self._ends_with(past, new) or self.stop + len(new) > len(self.buffer):
            self.buffer = new.new_empty(size + size // SLACK, *new.shape[1:])
            self.buffer[: len(past)] = past
            self.stop = len(past)
        self.buffer[self.stop : self.stop + len(new)] = new
        self.stop += len(new)
        return self.buffer[self.stop - size : self.stop]

    def _ends_with(self, past: Tensor, new: Tensor) -> bool:
        """Return whether `past` is what the buffer holds up to `stop`, so that `new` may follow it
        there.
        """
        alike = past.dtype == new.dtype == self.buffer.dtype and past.device == self.buffer.device
        if (
            not alike
            or not past.numel()
            or past.shape[1:] != self.buffer.shape[1:]
            or not past.is_contiguous()
        ):
            return False
        end = past.data_ptr() + past.numel() * past.element_size()
        return (
            end
            == self.buffer.data_ptr()
            + self.stop * self.buffer[0].numel() * self.buffer.element_size()
        )


class Inputs:
    """In training: the inputs, projected anew for each group."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.x = layer, x.transpose(0, 1)
        self.rows = layer.caches[0].append(past[0], self.x)

    def keys_and_values(self, number: int, heads: tuple[int, ...], rows: slice) -> list[Tensor]:
        """Return the keys K B g dk and values K B g dv of some rows, g heads of keys, for group
        `number`.
        """
        start, stop, _ = rows.indices(len(self.rows))
        own = len(self.rows) - len(self.x)
        # its buffer is appended to, which is no change of these rows
        past = self.rows[start : min(stop, own)].data
        x = self.x[max(0, start - own) : max(0, stop - own)]
        matrices = (
            matrix.T.to(self.rows.dtype) for matrix in _projection_matrices(self.layer, heads)
        )
        projected = (torch.cat([past @ matrix, x @ matrix]) for matrix in matrices)
        return [
            each.unflatten(-1, (len(heads) // self.layer.shape.sharing, -1)) for each in projected
        ]

    def next_past(self, groups: Partition) -> Past:
        """Return the inputs that the layer keeps for the next block."""
        span = self.layer.span
        return (span.keep(self.rows, span.cache_length(max(reach for _, reach in groups))),)


class KeysAndValues:
    """In evaluation: each group's own keys and values."""

    def __init__(self, layer, x: Tensor, past: Past):
        x = x.transpose(0, 1)
        new = [
            linear(x).unflatten(-1, (layer.shape.key_heads, -1))
            for linear in (layer.key, layer.value)
        ]
        parts = [
            pick_heads(each, key_heads(heads, layer.shape), 2)
            for heads in layer.partition
            for each in new
        ]
        self.layer, appended = layer, zip(layer.caches, past, parts, strict=False)
        self.rows = [cache.append(old, part) for cache, old, part in appended]

    def keys_and_values(self, number: int, heads: tuple[int, ...], rows: slice) -> list[Tensor]:
        """Return the keys K B g dk and values K B g dv of some rows, g heads of keys, for group
        `number`.
        """
        return [each[rows] for each in self.rows[2 * number : 2 * number + 2]]

    def next_past(self, groups: Partition) -> Past:
        """Keep for each group what it reaches, or what its span needs where reach depends on the
        input.
        """
        span = self.layer.span
        lengths = [
            span.cache_length(reach) if span.follows_input else reach
            for _, reach in groups
            for _ in range(2)
        ]
        return tuple(
            span.keep(rows, length) for rows, length in zip(self.rows, lengths, strict=True)
        )


def _projection_matrices(layer, heads: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return W_k and W_v of these heads: g dk d and g dv d, heads of keys one below the other."""
    matrices = (
        linear.weight.unflatten(0, (layer.shape.key_heads, -1))
        for linear in (layer.key, layer.value)
    )
    return tuple(
        pick_heads(matrix, key_heads(heads, layer.shape), 0).flatten(0, 1) for matrix in matrices
    )
