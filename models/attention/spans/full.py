"""Every key at hand: the remembered inputs and the block so far (Attention Is All You Need; Transformer-XL).

    m(x) = 1

In evaluation `evaluation_memory` M keys are seen from every position alike (Transformer-XL's "same length").
"""

from models.attention.choice import Shape
from models.attention.spans._span import Span


class Full(Span):
    example = {"memory": 6}
    needs_distance = False

    def __init__(self, shape: Shape, *, memory: int, evaluation_memory: int | None = None):
        super().__init__(shape)
        self.memory = memory
        self.evaluation_memory = evaluation_memory or memory

    @property
    def limit(self) -> int | None:
        return None if self.training else self.evaluation_memory

    def remember(self, window: int) -> int:
        return self.memory if self.training else self.evaluation_memory

    def facts(self) -> dict:
        span = float(self.evaluation_memory)
        return {"spans": [span] * self.heads, "mean_span": span, "max_span": span}
