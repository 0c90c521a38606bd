"""How many keys a GPU computes for each query of a block, known without waiting for the GPU.

Python gives a GPU its work ahead of time. How far a learned span reaches is a number on the GPU,
and to ask for it Python would have to wait until all work before is done. So the reach is copied
every few blocks, and used once it has arrived. Until then it may have grown: the window has keys to
spare, and a reach beyond it ends the run.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..variant import farthest

READ_EVERY = 16  # blocks between two copies of the reach
SPARE = 64  # keys beyond the reach that was read

# gives the numbers once they have arrived, and None before
Arriving = Callable[[], list[int] | None]


class TooNarrow(RuntimeError):
    """A head has reached beyond the keys that were computed."""


class Window:
    """The keys that are computed for the heads of one layer, in training."""

    def __init__(self):
        self._known: int | None = None  # the farthest reach that was read
        self._beyond: Tensor | None = None  # by how many keys a reach was beyond its window, so far
        self._arriving: Arriving | None = None
        self._blocks = 0

    @torch.no_grad()
    def of(self, layer, x: Tensor) -> int:
        """Return how many keys a query of a block x meets: a power of two, or the limit.

        Raise `TooNarrow` where they were too few in a block before.
        """
        unlimited = torch.iinfo(torch.int64).max
        most = farthest(layer, unlimited)
        # A span that follows its input may reach as far as any in each block.
        if layer.span.follows_input:
            return most
        z = layer.span.extent(x)
        reach = layer.span.reach(z).max()
        if reach.device.type == "cpu":
            return min(most, int(reach))
        if self._known is None:
            self._known = int(reach)  # waits, before the first block alone
            self._beyond = torch.zeros_like(reach)
        self._receive()
        window = min(most, next_power_of_two(self._known + SPARE))
        if window < most:
            self._beyond = torch.maximum(self._beyond, reach - window)
        if self._blocks % READ_EVERY == 0 and self._arriving is None:
            self._arriving = read_later(torch.stack([reach, self._beyond]))
        self._blocks += 1
        return window

    def check(self) -> None:
        """Raise `TooNarrow` where a window was too narrow; waits for the device."""
        if self._beyond is not None:
            _refuse(int(self._beyond))

    def _receive(self) -> None:
        """Take the numbers that have arrived meanwhile, if any."""
        numbers = self._arriving() if self._arriving else None
        if numbers is None:
            return
        self._known, beyond = numbers
        self._arriving = None
        _refuse(beyond)


def _refuse(beyond: int) -> None:
    if beyond > 0:
        raise TooNarrow(
            f"a span has grown {beyond} keys beyond those that were computed, by more than "
            f"{SPARE} within {READ_EVERY} blocks; train with the backend 'definition', which "
            "computes as many keys as the limit allows"
        )


def next_power_of_two(length: int) -> int:
    return 1 << max(0, int(length) - 1).bit_length()


def read_later(numbers: Tensor) -> Arriving:
    """Begin to copy numbers from a GPU, without waiting until they have arrived."""
    here = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
    here.copy_(numbers, non_blocking=True)
    copied = torch.cuda.Event()
    copied.record()

    def arrived() -> list[int] | None:
        return here.tolist() if copied.query() else None

    return arrived
