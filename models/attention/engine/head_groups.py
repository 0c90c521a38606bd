"""Heads that are computed together, as far as the farthest-seeing of them reaches, and the memory they share."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.attention.engine.chunks import Chunk, chunks


@dataclass(frozen=True)
class HeadGroup:
    """span, selection, normaliser: the layer's choices. flat: the nearest keys that surely have m = 1.

    drop: dropout on the weights, from `seed`. grad: whether there is a way back; keep: whether weights are kept for it,
    or computed again.
    """

    heads: int
    reach: int
    span: nn.Module
    selection: nn.Module
    normaliser: nn.Module
    flat: int
    attends_self: bool
    drop: float = 0.0
    seed: int = 0
    grad: bool = True
    keep: bool = True

    def chunks(self, q: Tensor, k: Tensor) -> Iterator[Chunk]:
        B, g, T, _ = q.shape
        return chunks(T, len(k), B, g, self.reach, self.attends_self, q.element_size())

    def factors(self, number: int, weights: Tensor) -> Tensor | None:
        """Dropout's factors of chunk `number`, 0 or 1 / (1 - drop): the same on the way back. None without dropout."""
        if not self.drop:
            return None
        generator = torch.Generator(weights.device).manual_seed(self.seed + number)
        return torch.empty_like(weights).bernoulli_(1 - self.drop, generator=generator).div_(1 - self.drop)


class _Scratch(threading.local):
    """Memory for what a chunk needs for a while, reused by all of a thread: a fresh page costs ten times a used one."""

    def __init__(self):
        self.pieces: dict = {}

    def take(self, name: str, shape: tuple, like: Tensor) -> Tensor:
        size, key = torch.Size(shape).numel(), (name, like.dtype, like.device)
        if key not in self.pieces or self.pieces[key].numel() < size:
            self.pieces[key] = like.new_empty(size)
        return self.pieces[key][:size].view(shape)


SCRATCH = _Scratch()


def chunk_extent(z: Tensor | None, chunk: Chunk) -> Tensor | None:
    """z of a chunk: g 1 1, or b g c 1 where it depends on the query."""
    return z[chunk.streams, :, chunk.queries] if z is not None and z.dim() == 4 else z
