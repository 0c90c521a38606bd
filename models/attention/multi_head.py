"""What attention over a stream and over a whole sequence share."""

from torch import Tensor, nn

from models.attention.choice import Choice, Shape
from models.kernels.compiled.dense import Linear, of_heads


class MultiHeadBase(nn.Module):
    """Projections without biases around the four choices (Attention Is All You Need, section 3.2.2)."""

    def __init__(self, shape: Shape, span, selection, normaliser, position, *, dropout: float = 0.0):
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.span, self.selection, self.normaliser, self.position = span, selection, normaliser, position
        keys, values = shape.heads * shape.d_k, shape.heads * shape.d_v
        self.query, self.key, self.value = (Linear(shape.d_model, width, bias=False) for width in (keys, keys, values))
        self.out = Linear(values, shape.d_model, bias=False)

    @property
    def choices(self) -> list[Choice]:
        return [self.span, self.selection, self.normaliser, self.position]

    @property
    def drop(self) -> float:
        """Dropout on the weights in the mode the layer is in."""
        return self.dropout if self.training else 0.0

    def bounds(self) -> list[int]:
        """The most keys that any head may ever see, by its span and by its position."""
        return [limit for limit in (self.span.limit, self.position.limit) if limit is not None]

    def split(self, x: Tensor) -> Tensor:
        """B T c -> B h T c/h."""
        return x.unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)

    def merge(self, y: Tensor) -> Tensor:
        """B h T dv -> B T d."""
        return of_heads(y, self.out.weight)
