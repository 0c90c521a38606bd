"""Multi-head attention over a whole sequence: a source sentence, or the layer's own input."""

import torch
from torch import Tensor
from torch.nn.functional import dropout

from models.attention import formula
from models.attention.choice import Choice, Shape
from models.attention.multi_head import MultiHeadBase

Projected = tuple[Tensor, Tensor]  # keys B h N dk and values B h N dv of a sequence


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
        for axis, choice in (("span", span), ("position", position)):
            if choice.needs_distance and not reads_itself:
                name = type(choice).__name__
                raise ValueError(f"{axis} {name} needs distances, which cross attention has not; valid: full, none")

    @property
    def choices(self) -> list[Choice]:
        """Without distances, span and position do nothing and have no facts."""
        return super().choices if self.reads_itself else [self.selection, self.normaliser]

    def project(self, sequence: Tensor) -> Projected:
        """Keys and values of a sequence B N d, computed once for all queries."""
        return self.split(self.key(sequence)).contiguous(), self.split(self.value(sequence)).contiguous()

    def forward(self, x: Tensor, source: Projected, visible: Tensor) -> Tensor:
        """x: B T d, the queries' inputs; source: the projected sequence; visible: B N, False at padding -> B T d."""
        k, v = source
        distance, reach = None, k.size(-2)
        if self.reads_itself:
            index = torch.arange(reach, device=x.device)
            distance, reach = (index[:, None] - index).abs() + 1, min([*self.bounds(), reach])
        z = self.span.extent(x)
        q, visible = self.split(self.query(x)), visible[:, None, None]
        weights = formula.weigh(q, k, z, self, visible, distance, reach)
        return self.merge(dropout(weights, self.drop) @ v)
