"""No position in the score: a net adds it to its input, or does without (Attention Is All You Need, section 3.5).

score(t, x) = q_t . k_{t - x}
"""

from torch import Tensor

from models.attention.choice import Choice, Shape


class NoPosition(Choice):
    needs_distance = False
    limit = None

    def __init__(self, shape: Shape):
        super().__init__()

    def for_next_layer(self) -> "NoPosition":
        return self

    def content(self, q: Tensor) -> Tensor:
        return q

    def keys(self, window: int) -> None:
        """Return None: there are no position keys, and so no query for them."""
        return None
