"""The same S keys for every head (Adaptive Attention Span, section 2.1).

m(x) = 1 for x <= S, else 0
"""

from typing import Annotated

from ..choice import Range, Shape
from ._span import Span


class Fixed(Span):
    example = {"limit": 5}
    from_grid = {"limit": "S"}
    kernel = "window"

    def __init__(self, shape: Shape, *, limit: Annotated[int, Range(ge=1)]):
        super().__init__(shape)
        self.limit = limit
