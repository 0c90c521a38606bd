"""What the engine needs to know of a span."""

import torch
from torch import Tensor

from ..choice import Choice, Shape


class Span(Choice):
    """limit: the farthest x that any head may ever see, None for no limit. follows_input: whether z
    depends on it.

    first: how many keys n at the beginning every query sees, however far away they are. Key j = 0
    .. n - 1 counts as limit + n - j away at most, from queries behind it and, in a sentence, from
    those before it: the last of the n as limit + 1, the one before it as limit + 2, and so on. The
    limit is the position's where that is smaller.

    kernel: "window" where m = 1 up to the reach, which is the same for all heads, and z is None;
    "ramp" where m is that of `_ramp.py` with the R of an attribute `ramp`.
    """

    measures = {
        "mean_span": ("mean span", "characters"),
        "max_span": ("longest span", "characters"),
    }
    measures_by_head = {"spans": ("span of each head", "characters")}
    limit: int | None = None
    first: int = 0
    follows_input = False

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = shape.heads

    def extent(self, inputs: Tensor) -> Tensor | None:
        """Compute z for a block of inputs (B T d), in keys.

        (h 1 1), or (B h T 1) if it depends on the query; None: no mask.
        """
        return None

    def log_mask(self, x: Tensor, z: Tensor | None) -> Tensor | None:
        """Compute log m at x: 0 where a key is seen, -inf where not, between them in a soft mask.

        x: whole numbers from 1 on, T K or K. The result broadcasts to h T K, or to B h T K: (h 1 1)
        compared with x is a window for each head. None where m = 1 up to the limit.
        """
        return None

    def reach(self, z: Tensor | None) -> Tensor:
        """Count the past keys that each head can see now: (h,) whole numbers.

        The engine computes no more.
        """
        unlimited = torch.iinfo(torch.int64).max
        keys = unlimited if self.limit is None else self.limit
        return torch.full((self.heads,), keys)

    def cache_length(self, window: int) -> int:
        """Count the past inputs to keep for the next block, given the window just used."""
        return self.limit

    def keep(self, rows: Tensor, length: int) -> Tensor:
        """Return what is kept of cached rows, time first: the last `length`, and the first keys."""
        not_kept = len(rows) - self.first - length
        if not_kept <= 0:
            return rows
        last = rows[len(rows) - length :]
        if self.first:
            return torch.cat([rows[: self.first], last])
        return last

    def facts(self) -> dict:
        """Return the heads' spans, their mean and the farthest reach, in keys.

        R is included, as in the paper.
        """
        z = None if self.follows_input else self.extent(None)
        reaches = self.reach(z).clamp(max=self.limit) + self.first
        spans = reaches.double().flatten()
        return {
            "spans": spans.tolist(),
            "mean_span": spans.mean().item(),
            "max_span": spans.max().item(),
        }
