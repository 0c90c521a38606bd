"""Multi-head attention over a block and what the layer remembers of the stream before it."""

import torch
from torch import Tensor, nn

from models.attention import engine
from models.attention.choice import Choice, Shape


class Attention(nn.Module):
    """Projections without biases around the four choices (Adaptive Attention Span, section 2.1).

    While training it remembers the layer's inputs and projects them anew with the weights of the step; in evaluation,
    where weights stand still, it remembers their keys and values instead.
    """

    def __init__(
        self, shape: Shape, span, selection, normaliser, position, *, attends_self: bool, dropout: float = 0.0
    ):
        super().__init__()
        self.shape, self.attends_self, self.dropout = shape, attends_self, dropout
        self.span, self.selection, self.normaliser, self.position = span, selection, normaliser, position
        self.query, self.key, self.value, self.out = (nn.Linear(shape.width, shape.width, bias=False) for _ in range(4))
        self.attend, self.trims = engine.attend, True
        self.shapes = (0, 0, 0)  # T, keys at hand and window of the last block: what was computed, for whoever counts

    @property
    def choices(self) -> list[Choice]:
        return [self.span, self.selection, self.normaliser, self.position]

    def start(self, batch: int) -> Tensor:
        """The memory of a stream that has not begun: (1, B, 0, d) in training, (2, B, 0, d) in evaluation."""
        weight = self.query.weight
        return torch.zeros(1 if self.training else 2, batch, 0, self.shape.width, device=weight.device)

    def window(self, z: Tensor | None) -> int | None:
        """How many keys the farthest-seeing head may use; None for all."""
        bounds = [limit for limit in (self.span.limit, self.position.limit) if limit is not None]
        if self.trims:
            bounds.append(int(self.span.reach(z).max()))
        return min(bounds, default=None)

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        """x: B T d and the memory -> B T d and the memory for the next block, detached."""
        z = self.span.extent(x)
        window = self.window(z)
        window = past.size(2) + x.size(1) if window is None else window
        new = x[None] if self.training else torch.stack([self.key(x), self.value(x)])
        seen = torch.cat([past[:, :, max(0, past.size(2) - window) :].to(new.dtype), new], 2)
        k, v = (self.key(seen[0]), self.value(seen[0])) if self.training else seen
        self.shapes = (x.size(1), seen.size(2), window)
        q, k, v = (self._split(part) for part in (self.query(x), k, v))
        drop = self.dropout if self.training else 0.0
        y = self.attend(q, k, v, z, self, reach=window, drop=drop)
        keep = self.span.remember(window)
        kept = torch.cat([past.to(new.dtype), new.detach()], 2)[:, :, -keep:]
        return self.out(y.transpose(1, 2).flatten(2)), kept

    def _split(self, part: Tensor) -> Tensor:
        """B T d -> B h T d/h."""
        return part.unflatten(-1, (self.shape.heads, self.shape.head)).transpose(1, 2)
