"""What multiplies the scores of a query, before the span's mask, the selection and the normaliser.

    z(t, x) -> s(t) z(t, x)

s may depend on the input of the layer at t and on n, the number of keys that the mask and the
limit of the span show to the query: not the reach that a span has learned, not what is selected.
Logarithms are of n + 1, because log 1 = 0 and a negative power of it is infinite; in a causal
decoder without a span that is the log(t + 2) of released code, t from 0.

A bias by distance (ALiBi) is added after it, as in released code.
"""

from torch import Tensor

from ..choice import Choice, Shape


class ScoreScale(Choice):
    """changes_queries: whether `of_queries` gives anything.

    counts_keys: whether s depends on n; then caches keep all that the span's limit shows.

    follows_input: whether s depends on the input of the layer.
    """

    changes_queries = False
    counts_keys = False
    follows_input = False
    needs_distance = False

    def __init__(self, shape: Shape):
        super().__init__()

    def of_queries(self, x: Tensor | None, n: Tensor) -> Tensor:
        """Compute s: B h T 1, or h T 1.

        x: B T d, the layer's input; None where there is no layer. n: whole numbers from 1, T, B T
        or, where all queries see the same keys, B 1.
        """
        raise NotImplementedError

    def of_scores(self, masked: Tensor) -> Tensor:
        """Compute rows of scores in evaluation from those of training: B h T K of the same.

        Keys that are not seen have the score -inf.
        """
        return masked

    @property
    def changes_scores(self) -> bool:
        """Whether `of_scores` does anything in the mode that the choice is in."""
        return False
