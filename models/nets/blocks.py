"""Transformer layers, post-norm (Attention Is All You Need, section 3.1) or pre-norm (Xiong et al. 2020)."""

import torch
from torch import Tensor, nn

from models.attention.engine.stream_cache import Past
from models.attention.sequence_attention import SequenceAttention, Source
from models.attention.stream_attention import StreamAttention
from models.kernels.compiled.dense import compiles
from models.kernels.compiled.norm import add_and_norm
from models.nets.feed_forward import FeedForward


class Residual(nn.LayerNorm):
    """Around a sub-layer f: LN(x + drop(f(x))) post-norm, x + drop(f(LN(x))) pre-norm.

    In two halves, `y = f(r.enter(x)); x = r.leave(x, y)`, because attention returns more than y.
    """

    def __init__(self, d_model: int, dropout: float, norm: str = "post"):
        super().__init__(d_model)
        if norm not in ("post", "pre"):
            raise ValueError(f"unknown norm '{norm}'; valid: post, pre")
        self.drop, self.post = nn.Dropout(dropout), norm == "post"

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        """The layer norm of x, or of x + y."""
        if compiles(x) and torch.is_grad_enabled():
            return add_and_norm(x, y, self.weight, self.bias, self.eps)
        return super().forward(x if y is None else x + y)

    def enter(self, x: Tensor) -> Tensor:
        return x if self.post else self(x)

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        return self(x, self.drop(y)) if self.post else x + self.drop(y)


class Block(nn.Module):
    """Attention to a stream, then the feed-forward layer.

    dropout: inside the feed-forward layer; residual_dropout: on the output of each sub-layer.
    """

    def __init__(self, attention, d_ff: int, dropout: float, residual_dropout: float = 0.0, norm: str = "post"):
        super().__init__()
        d_model = attention.shape.d_model
        self.attention = attention
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.after_attention = Residual(d_model, residual_dropout, norm)
        self.after_feed_forward = Residual(d_model, residual_dropout, norm)

    def forward(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """x: B T d and the layer's cache -> B T d and the cache for the next block."""
        x, past = self.attend(x, past)
        return self.feed(x), past

    def attend(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        y, past = self.attention(self.after_attention.enter(x), past)
        return self.after_attention.leave(x, y), past

    def feed(self, x: Tensor) -> Tensor:
        return self.after_feed_forward.leave(x, self.feed_forward(self.after_feed_forward.enter(x)))


class EncoderBlock(Block):
    """Self-attention of a sentence in both directions, then the feed-forward layer."""

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """x: B N d, visible: B N -> B N d."""
        y = self.attention.read(self.after_attention.enter(x), visible)
        return self.feed(self.after_attention.leave(x, y))


class DecoderBlock(Block):
    """Attention to the target so far, attention to the source, then the feed-forward layer."""

    def __init__(
        self, attention: StreamAttention, cross: SequenceAttention, d_ff: int, residual_dropout: float, norm: str
    ):
        super().__init__(attention, d_ff, 0.0, residual_dropout, norm)
        self.cross, self.after_cross = cross, Residual(attention.shape.d_model, residual_dropout, norm)

    def forward(self, x: Tensor, past: Past, source: Source, visible: Tensor) -> tuple[Tensor, Past]:
        """x: R T d, R rows for B sentences, R / B side by side for each -> R T d and the cache for the next block.

        source: the projected sources of the B sentences; visible: B N, False at padding. The rows of a sentence share
        its source, and attend to it as if they were positions of a single row.
        """
        x, past = self.attend(x, past)
        queries = self.after_cross.enter(x).reshape(len(visible), -1, x.size(-1))
        y = self.cross(queries, source, visible).view_as(x)
        return self.feed(self.after_cross.leave(x, y)), past
