"""What a layer keeps of its streams: rows of time in one buffer, appended to in place."""

import torch
from torch import Tensor

Past = tuple[Tensor, ...]  # a layer's cache in one or several parts, time first, streams second: K B ..

SLACK = 4  # a new buffer has room for a quarter more rows, so that rows are seldom copied


def streams(past: list[Past], rows) -> list[Past]:
    """The caches of these streams alone, by layer. rows: a slice or an index."""
    if isinstance(rows, Tensor):
        return [tuple(_selected(part, rows) for part in parts) for parts in past]
    return [tuple(part[:, rows] for part in parts) for parts in past]


def _selected(part: Tensor, rows: Tensor) -> Tensor:
    """These streams, copied, with room behind them that the next `append` takes over: beams move at every step."""
    buffer = part.new_empty(len(part) + len(part) // SLACK + 1, len(rows), *part.shape[2:])
    selected = torch.index_select(part, 1, rows, out=buffer[: len(part)])
    selected.room = buffer
    return selected


class StreamCache:
    """The buffer that holds the rows returned last. Rows that were returned are never written again."""

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        """Release the buffer; rows that were returned stay with whoever holds them."""
        self.buffer, self.stop = torch.empty(0), 0

    def append(self, past: Tensor, new: Tensor) -> Tensor:
        """past: K B c and new: T B c -> both, K + T B c, without gradient.

        Rows are copied only where `past` is not what was returned last, or the buffer is full.
        """
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
        """Whether `past` is what the buffer holds up to `stop`, so that `new` may follow it there."""
        alike = past.dtype == new.dtype == self.buffer.dtype and past.device == self.buffer.device
        if not alike or not past.numel() or past.shape[1:] != self.buffer.shape[1:] or not past.is_contiguous():
            return False
        end = past.data_ptr() + past.numel() * past.element_size()
        return end == self.buffer.data_ptr() + self.stop * self.buffer[0].numel() * self.buffer.element_size()
