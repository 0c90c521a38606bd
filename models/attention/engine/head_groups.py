"""Heads that are computed together, as far as the farthest-seeing of them reaches."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.attention.engine.chunks import Chunk, chunks


@dataclass(frozen=True)
class HeadGroup:
    """heads: how many. reach: the keys that the farthest-seeing of them sees. span, selection, normaliser: the layer's.

    flat: how many of the nearest keys surely have m = 1. drop: dropout on the weights, drawn from `seed`. grad: whether
    there will be a backward pass. keep: whether the weights are kept for it, or computed again. on_gpu: where chunks
    are large.
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
    on_gpu: bool = False

    def chunks(self, q: Tensor, k: Tensor) -> Iterator[Chunk]:
        """The chunks of queries q: B g T dk over keys k: K B g dk."""
        B, g, T, _ = q.shape
        return chunks(T, len(k), B, g, self.reach, self.attends_self, q.element_size(), self.on_gpu)

    def dropout_factors(self, number: int, weights: Tensor) -> Tensor | None:
        """Factors for the weights of chunk `number`, each 0 or 1 / (1 - drop); None without dropout.

        The forward and the backward pass get the same ones.
        """
        if not self.drop:
            return None
        generator = torch.Generator(weights.device).manual_seed(self.seed + number)
        return torch.empty_like(weights).bernoulli_(1 - self.drop, generator=generator).div_(1 - self.drop)


def chunk_extent(z: Tensor | None, chunk: Chunk) -> Tensor | None:
    """z of a chunk: g 1 1, or b g c 1 where it depends on the query."""
    return z[chunk.streams, :, chunk.queries] if z is not None and z.dim() == 4 else z
