"""Every key in the cache and in the block so far (Attention Is All You Need; Transformer-XL).

    m(x) = 1

In evaluation, every position sees the same number M of keys, `evaluation_cache` (Transformer-XL's
"same length").
"""

from typing import Annotated

from ..choice import Range, Shape
from ._span import Span


class Full(Span):
    example = {"cache": 6}
    needs_distance = False
    kernel = "window"

    def __init__(
        self,
        shape: Shape,
        *,
        cache: Annotated[int, Range(ge=1)],
        evaluation_cache: Annotated[int | None, Range(ge=1)] = None,
    ):
        super().__init__(shape)
        self.cache = cache
        self.evaluation_cache = evaluation_cache or cache

    @property
    def limit(self) -> int | None:
        return None if self.training else self.evaluation_cache

    def cache_length(self, window: int) -> int:
        return self.cache if self.training else self.evaluation_cache

    def facts(self) -> dict:
        span = float(self.evaluation_cache)
        return {"spans": [span] * self.heads, "mean_span": span, "max_span": span}
