"""Multi-head attention over a block and what the layer remembers of the stream before it."""

import torch
from torch import Tensor

from models.attention import engine
from models.attention.choice import Shape
from models.attention.heads import Heads


class Attention(Heads):
    """Attention to the past of a stream (Adaptive Attention Span, section 2.1).

    While training it remembers the layer's inputs and projects them anew with the weights of the step; in evaluation,
    where weights stand still, it remembers their keys and values instead.
    """

    def __init__(
        self, shape: Shape, span, selection, normaliser, position, *, attends_self: bool, dropout: float = 0.0
    ):
        super().__init__(shape, span, selection, normaliser, position, dropout=dropout)
        self.attends_self = attends_self
        self.attend, self.trims = engine.attend, True
        self.shapes = (0, 0, 0)  # T, keys at hand and window of the last block: what was computed, for whoever counts

    def start(self, batch: int) -> Tensor:
        """The memory of a stream that has not begun: (1, B, 0, d) in training, (1, B, 0, h (dk + dv)) in evaluation."""
        keys, values = self.key.weight, self.value.weight
        width = self.shape.width if self.training else len(keys) + len(values)
        return torch.zeros(1, batch, 0, width, device=keys.device)

    def window(self, z: Tensor | None) -> int | None:
        """How many keys the farthest-seeing head may use; None for all."""
        bounds = self.bounds()
        if self.trims:
            bounds.append(int(self.span.reach(z).max()))
        return min(bounds, default=None)

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """x: B T d and the memory -> B T d and the memory for the next block, detached."""
        z = self.span.extent(x)
        window = self.window(z)
        window = past.size(2) + x.size(1) if window is None else window
        new = (x if self.training else torch.cat([self.key(x), self.value(x)], -1))[None]
        every = torch.cat([past.to(new.dtype), new], 2)
        seen = every[:, :, max(0, past.size(2) - window) :]
        self.shapes = (x.size(1), seen.size(2), window)
        k, v = self._keys_and_values(seen[0])
        y = self.attend(self.split(self.query(x)), k, v, z, self, reach=window, drop=self.drop)
        return self.merge(y), every.detach()[:, :, -self.span.remember(window) :]

    def _keys_and_values(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """What is remembered, B K c -> B h K dk and B h K dv."""
        if self.training:
            return self.split(self.key(seen)), self.split(self.value(seen))
        k, v = seen.split([len(self.key.weight), len(self.value.weight)], -1)
        return self.split(k), self.split(v)
