"""How a block is cut so that its scores stay few.

c queries of b streams at a time; the queries of a chunk see W keys each, W + c - 1 together
"""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

QUERIES = 64  # c: at most c - 1 keys beside the band are multiplied in vain
LONG = 16  # twice as many where the band is this many times as wide: then it hardly shows
CHUNK_BYTES = 64 << 20  # of scores at a time


@dataclass(frozen=True)
class Chunk:
    """queries, streams, keys: slices of T, B and K. missing: columns of the scores before the stream's first key."""

    queries: slice
    streams: slice
    keys: slice
    missing: int
    window: int

    @property
    def c(self) -> int:
        return self.queries.stop - self.queries.start

    def of_queries(self, x: Tensor) -> Tensor:
        """B g T d -> n c d, the items n = streams x heads."""
        return x[self.streams, :, self.queries].flatten(0, 1)

    def of_keys(self, x: Tensor) -> Tensor:
        """K B g d -> n k d, a view."""
        return x[self.keys, self.streams].flatten(1, 2).transpose(0, 1)

    def by_head(self, x: Tensor) -> Tensor:
        """n .. -> b g .."""
        return x.unflatten(0, (self.streams.stop - self.streams.start, -1))


def chunks(T: int, K: int, B: int, heads: int, reach: int, attends_self: bool, bytes_each: int) -> Iterator[Chunk]:
    """The chunks of a block of T queries, the last T of K keys their own, none seeing beyond `reach`.

    Where the queries of a chunk see no key at all, its window is the column x = 1, before the stream's first key.
    """
    step = QUERIES * (2 if reach >= LONG * QUERIES else 1)
    for start in range(0, T, step):
        queries = slice(start, min(start + step, T))
        c, seen = queries.stop - start, K - T + queries.stop - 1 + attends_self
        window = max(1, min(reach, seen))
        first = seen - (window + c - 1)
        b = max(1, CHUNK_BYTES // (heads * c * (window + c - 1) * bytes_each))
        for stream in range(0, B, b):
            streams = slice(stream, min(stream + b, B))
            yield Chunk(queries, streams, slice(max(0, first), seen), max(0, -first), window)


def band(scores: Tensor, window: int) -> Tensor:
    """Columns i .. i + W - 1 of each row i of contiguous (.. c, W + c - 1) scores, as a view (.. c, W).

    Its row stride is one longer than the rows: nothing is copied to skew the scores or to undo it.
    """
    *batch, c, width = scores.shape
    return scores.as_strided((*batch, c, window), (*scores.stride()[:-2], width + 1, 1), scores.storage_offset())
