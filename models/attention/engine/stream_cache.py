"""What a layer remembers of its streams: rows of time in one piece of memory, appended to in place."""

import torch
from torch import Tensor

Past = tuple[Tensor, ...]  # a layer's memory in one or several parts, time first, streams second: K B ..

SLACK = 4  # a new piece has room for a quarter of its rows more, so that rows are copied once in a while


def streams(past: list[Past], rows) -> list[Past]:
    """The memories of these streams alone, by layer. rows: a slice or an index."""
    return [tuple(part[:, rows] for part in parts) for parts in past]


class StreamCache:
    """The piece of memory that holds the rows given out last. Rows that were given out are never written again."""

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """Let go of the piece; rows that were given out stay with whoever has them."""
        self.piece, self.stop = torch.empty(0), 0

    def append(self, past: Tensor, new: Tensor) -> Tensor:
        """past: K B c and new: T B c -> both, K + T B c, without gradient; copied only where `past` was not given out
        last or its piece is full.
        """
        past, new = past.detach(), new.detach()
        size = len(past) + len(new)
        if not self._ends_with(past, new) or self.stop + len(new) > len(self.piece):
            self.piece = new.new_empty(size + size // SLACK, *new.shape[1:])
            self.piece[: len(past)] = past
            self.stop = len(past)
        self.piece[self.stop : self.stop + len(new)] = new
        self.stop += len(new)
        return self.piece[self.stop - size : self.stop]

    def _ends_with(self, past: Tensor, new: Tensor) -> bool:
        """Whether `past` is what this piece holds up to `stop`, so that `new` may follow it there."""
        alike = past.dtype == new.dtype == self.piece.dtype and past.device == self.piece.device
        if not alike or not past.numel() or past.shape[1:] != self.piece.shape[1:] or not past.is_contiguous():
            return False
        end = past.data_ptr() + past.numel() * past.element_size()
        return end == self.piece.data_ptr() + self.stop * self.piece[0].numel() * self.piece.element_size()
