"""What a score gets from the places of query and key: any of three terms, each a hook that does
nothing by default.

    score(t, x) = [turn(content(q_t), t) . turn(k_{t - x}, t - x) + query(q_t) . keys_x] / sqrt(dk)
                  + bias_x
"""

from torch import Tensor

from ..choice import Choice, Shape


class Position(Choice):
    """limit: the farthest x that has a position, None for no limit; no key beyond it is seen.

    has_keys, has_bias: whether `keys` and `bias` give anything: what a score costs depends on them.
    unscaled_heads: how many heads, from the first, no score scale changes.
    """

    limit: int | None = None
    has_keys = False
    has_bias = False
    unscaled_heads = 0

    def __init__(self, shape: Shape):
        super().__init__()

    def for_next_layer(self) -> "Position":
        """Return the position of the next layer: this one where layers share all of it."""
        return self

    def content(self, q: Tensor) -> Tensor:
        """Compute the queries that meet keys: B h T dk of the same."""
        return q

    def turn(self, x: Tensor, place: Tensor) -> Tensor:
        """Turn queries or keys, .. dk, by their place: whole numbers that broadcast with x[..., 0].

        Places are counted from where the available keys begin, so a score may depend on their
        difference alone.
        """
        return x

    def query(self, q: Tensor) -> Tensor:
        """Compute the queries that meet position keys: B h T dk of the same."""
        return q

    def keys(self, window: int) -> Tensor | None:
        """Compute position keys for x = window .. 1: (dk, window), or by head (h, dk, window).

        None: there are none.
        """
        return None

    def bias(self, x: Tensor) -> Tensor | None:
        """Compute what each head adds to the score at the distances x: (h, *x.shape).

        x: whole numbers. None: nothing.
        """
        return None
