"""The same S keys for every head, and the first n keys of the stream or sentence (Xiao et al. 2024,
StreamingLLM, 3.2).

m(x) = 1 for x <= S and for the first n keys, else 0

Distances are those within the cache, as in the paper: the first keys are never farther than just
beyond the window.
"""

from typing import Annotated

from ..choice import Range, Shape
from ._span import Span


class Sinks(Span):
    example = {"limit": 5, "first": 2}
    from_grid = {"limit": "S"}

    def __init__(
        self,
        shape: Shape,
        *,
        limit: Annotated[int, Range(ge=1)],
        first: Annotated[int, Range(ge=1)] = 4,
    ):
        super().__init__(shape)
        self.limit = limit
        self.first = first
