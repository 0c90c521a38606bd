"""Multi-head attention over a block and what the layer has cached of the stream before it."""

from torch import Tensor

from models.attention.choice import Shape
from models.attention.engine.engine import Computed, Engine
from models.attention.engine.stream_cache import Past, StreamCache
from models.attention.multi_head import MultiHeadBase


class StreamAttention(MultiHeadBase):
    """Attention to the past of a stream (Adaptive Attention Span, section 2.1).

    `implementation` computes it: an `Engine`, or the `Definition`, which gives the same numbers.
    """

    def __init__(
        self, shape: Shape, span, selection, normaliser, position, *, attends_self: bool, dropout: float = 0.0
    ):
        super().__init__(shape, span, selection, normaliser, position, dropout=dropout)
        self.attends_self = attends_self
        self.implementation = Engine()
        self.caches = [StreamCache() for _ in range(2 * shape.heads)]  # keys and values of as many groups
        self.partition = [tuple(range(shape.heads))]  # groups of heads in evaluation, as `start` made them
        self.shapes: list[Computed] = []  # of the last block's groups

    def start(self, batch: int) -> Past:
        """The cache of streams that have not begun, for the mode the layer is in."""
        return self.implementation.start(self, batch)

    def forward(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """x: B T d and the cache -> B T d and the cache for the next block, detached."""
        y, past = self.implementation.attend(self, x, past)
        return self.out(y.flatten(2)), past
