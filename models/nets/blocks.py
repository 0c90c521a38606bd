"""A post-norm Transformer layer."""

from torch import Tensor, nn

from models.attention import Attention


def feed_forward(width: int, inner: int, dropout: float) -> nn.Sequential:
    """FF(x) = W2 dropout(relu(W1 x + b1)) + b2"""
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Dropout(dropout), nn.Linear(inner, width))


class Block(nn.Module):
    """x = LN(x + drop(Attention(x)));  x = LN(x + drop(FF(x)))"""

    def __init__(self, attention: Attention, inner: int, dropout: float, residual_dropout: float = 0.0):
        super().__init__()
        width = attention.shape.width
        self.attention = attention
        self.feed_forward = feed_forward(width, inner, dropout)
        self.after_attention, self.after_feed_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(residual_dropout)

    def forward(self, x: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        y, past = self.attention(x, past)
        x = self.after_attention(x + self.drop(y))
        return self.after_feed_forward(x + self.drop(self.feed_forward(x))), past
