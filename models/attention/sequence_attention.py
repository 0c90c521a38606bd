"""Multi-head attention over a whole sequence: a source sentence, or the layer's own input."""

from torch import Tensor

from models.attention.choice import Choice, Shape
from models.attention.engine.engine import Engine
from models.attention.multi_head import MultiHeadBase
from models.kernels.compiled.dense import by_heads

Source = tuple[Tensor, Tensor]  # keys B h N dk and values B h N dv of a sequence


class SequenceAttention(MultiHeadBase):
    """Encoder self-attention and encoder-decoder attention (Attention Is All You Need, section 3.2.3).

    reads_itself: queries and keys are positions of one sequence, at distance x = |t - j| + 1. Otherwise keys have no
    distance, and a span or position that needs one is a ValueError.
    """

    def __init__(
        self, shape: Shape, span, selection, normaliser, position, *, reads_itself: bool, dropout: float = 0.0
    ):
        super().__init__(shape, span, selection, normaliser, position, dropout=dropout)
        self.reads_itself = reads_itself
        self.attends_self = True  # x = 1 is a position itself
        self.implementation = Engine()
        for axis, choice in (("span", span), ("position", position)):
            if choice.needs_distance and not reads_itself:
                name = type(choice).__name__
                raise ValueError(f"{axis} {name} needs distances, which cross attention has not; valid: full, none")

    @property
    def choices(self) -> list[Choice]:
        """Without distances, span and position do nothing and have no facts."""
        return super().choices if self.reads_itself else [self.selection, self.normaliser]

    def project(self, sequence: Tensor) -> Source:
        """Keys and values of a sequence B N d, computed once for all queries."""
        return by_heads(sequence, self.shape.heads, self.key.weight, self.value.weight)

    def forward(self, x: Tensor, source: Source, visible: Tensor) -> Tensor:
        """x: B T d, the queries' inputs; source: the projected sequence; visible: B N, False at padding -> B T d.

        Padding stands at the end of a sequence. In a sequence that reads itself, padding sees nothing and gives 0.
        """
        projected = *by_heads(x, self.shape.heads, self.query.weight), *source
        return self.merge(self.implementation.attend_sequence(self, x, projected, visible))

    def read(self, x: Tensor, visible: Tensor) -> Tensor:
        """As `forward` for a sequence B N d that reads itself."""
        matrices = (linear.weight for linear in (self.query, self.key, self.value))
        projected = by_heads(x, self.shape.heads, *matrices)
        return self.merge(self.implementation.attend_sequence(self, x, projected, visible))
