"""What models are built from: Transformer layers, absolute positions, and what they collect.

Layers are post-norm (Attention Is All You Need, section 3.1) or pre-norm (Xiong et al. 2020);
positions are those of section 3.5 and Table 3, row E.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from ..attention.choice import Choice
from ..attention.layers import SequenceAttention, Source, StreamAttention
from ..attention.positions._sinusoid import interleaved
from ..attention.variant import Past
from ..kernels.compiled.dense import Linear, Product, add_and_norm, compiles, multiply
from ..kernels.no_double_backward import no_double_backward


class _Relu2(torch.autograd.Function):
    """x: n d -> W2 h + b2, h = relu(W1 x + b1).

    dh = dy W2 where h > 0;   dW2 = dy^T h;   dW1 = dh^T x;   dx = dh W1
    """

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2):
        h = x.new_empty(len(x), len(w1))
        y = x.new_empty(len(x), len(w2))
        multiply(
            Product(x, w1.T, h, relu=True, bias=b1),
            Product(h, w2.T, y, bias=b2),
        )
        ctx.save_for_backward(x, w1, w2, h)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        x, w1, w2, h = ctx.saved_tensors
        dx = x.new_empty(x.shape)
        dh = x.new_empty(h.shape)
        dw1 = x.new_empty(w1.shape)
        dw2 = x.new_empty(w2.shape)
        multiply(Product(dy, w2, dh))
        # dh is 0 where the relu was: h is 0 there.
        torch.ops.aten.threshold_backward.grad_input(dh, h, 0, grad_input=dh)
        multiply(
            Product(dh, w1, dx),
            Product(dh.T, x, dw1),
            Product(dy.T, h, dw2),
        )
        return dx, dw1, dh.sum(0), dw2, dy.sum(0)


class FeedForward(nn.Sequential):
    def __init__(self, d_model: int, d_ff: int, dropout: float):
        super().__init__(
            Linear(d_model, d_ff),
            nn.ReLU(),
            nn.Dropout(dropout),
            Linear(d_ff, d_model),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Compute W2 relu(W1 x + b1) + b2: .. d -> .. d."""
        first, _, drop, last = self
        # The compiled library has no dropout, and without a gradient it gains nothing.
        drops = self.training and drop.p
        if not compiles(x) or not torch.is_grad_enabled() or drops:
            return super().forward(x)
        *sizes, _ = x.shape
        rows = x.flatten(0, -2)
        y = _Relu2.apply(rows, first.weight, first.bias, last.weight, last.bias)
        return y.view(*sizes, -1)


class PositionalEncoding(nn.Module):
    """Vectors of the positions 0 .. max_length - 1 of a sentence.

    "sinusoid", "learned" from N(0, 1 / d), or "none".
    """

    def __init__(self, name: str, max_length: int, d_model: int):
        super().__init__()
        if name == "learned":
            table = torch.randn(max_length, d_model) / math.sqrt(d_model)
            self.table = nn.Parameter(table)
        elif name == "sinusoid":
            table = interleaved(torch.arange(max_length).float(), d_model)
            # Not among the weights: it follows from the settings.
            self.register_buffer("table", table, persistent=False)
        elif name == "none":
            table = torch.zeros(max_length, d_model)
            self.register_buffer("table", table, persistent=False)
        else:
            raise ValueError(
                f"unknown positional_encoding '{name}'; valid: sinusoid, learned, none"
            )

    def forward(self, start: int, count: int) -> Tensor:
        """Return the vectors of positions start .. start + count - 1: (count, d).

        ValueError beyond the last.
        """
        stop = start + count
        if stop > len(self.table):
            raise ValueError(
                f"a sentence of {stop} tokens is longer than max_length = {len(self.table)}"
            )
        return self.table[start:stop]


class Residual(nn.LayerNorm):
    """Around a sub-layer f: LN(x + drop(f(x))) post-norm, x + drop(f(LN(x))) pre-norm.

    In two halves, `y = f(r.enter(x)); x = r.leave(x, y)`, because attention returns more than y.
    """

    def __init__(self, d_model: int, dropout: float, norm: str = "post"):
        super().__init__(d_model)
        if norm not in ("post", "pre"):
            raise ValueError(f"unknown norm '{norm}'; valid: post, pre")
        self.drop = nn.Dropout(dropout)
        self.post = norm == "post"

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        """Compute the layer norm of x, or of x + y."""
        # The compiled sum and norm read and write x once.
        if compiles(x):
            return add_and_norm(x, y, self.weight, self.bias, self.eps)
        if y is not None:
            x = x + y
        return super().forward(x)

    def enter(self, x: Tensor) -> Tensor:
        """Return what the sub-layer reads."""
        if self.post:
            return x
        return self(x)

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """Join x and the output y of the sub-layer."""
        y = self.drop(y)
        if self.post:
            return self(x, y)
        return x + y


class Block(nn.Module):
    """Attention to a stream, then the feed-forward layer.

    dropout: inside the feed-forward layer; residual_dropout: on the output of each sub-layer.
    """

    def __init__(
        self,
        attention,
        d_ff: int,
        dropout: float,
        residual_dropout: float = 0.0,
        norm: str = "post",
    ):
        super().__init__()
        d_model = attention.shape.d_model
        self.attention = attention
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.after_attention = Residual(d_model, residual_dropout, norm)
        self.after_feed_forward = Residual(d_model, residual_dropout, norm)

    def forward(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Read a block: x: B T d and the layer's cache -> B T d and the next block's cache."""
        x, past = self.attend(x, past)
        return self.feed(x), past

    def attend(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        y, past = self.attention(self.after_attention.enter(x), past)
        return self.after_attention.leave(x, y), past

    def feed(self, x: Tensor) -> Tensor:
        y = self.feed_forward(self.after_feed_forward.enter(x))
        return self.after_feed_forward.leave(x, y)


class EncoderBlock(Block):
    """Self-attention of a sentence in both directions, then the feed-forward layer."""

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """Read a whole sentence: x: B N d, visible: B N -> B N d."""
        # Keys and queries are of the same sentence: one projection for both.
        y = self.attention.read(self.after_attention.enter(x), visible)
        return self.feed(self.after_attention.leave(x, y))


class DecoderBlock(Block):
    """Attention to the target so far, attention to the source, then the feed-forward layer."""

    def __init__(
        self,
        attention: StreamAttention,
        cross: SequenceAttention,
        d_ff: int,
        residual_dropout: float,
        norm: str,
    ):
        super().__init__(attention, d_ff, 0.0, residual_dropout, norm)
        self.cross = cross
        self.after_cross = Residual(attention.shape.d_model, residual_dropout, norm)

    def forward(
        self, x: Tensor, past: Past, source: Source, visible: Tensor
    ) -> tuple[Tensor, Past]:
        """Read a block: x: R T d, R rows for B sentences -> R T d and the next block's cache.

        source: the projected sources of the B sentences; visible: B N, False at padding. The R / B
        rows of a sentence follow one another. They share its source, and attend to it as if they
        were positions of a single row.
        """
        x, past = self.attend(x, past)
        B, _ = visible.shape
        queries = self.after_cross.enter(x)
        # The rows of a sentence one after the other: R T d -> B (R / B T) d.
        queries = queries.reshape(B, -1, x.size(-1))
        y = self.cross(queries, source, visible).view_as(x)
        return self.feed(self.after_cross.leave(x, y)), past


class AttentionNet(nn.Module):
    """A model whose `attentions` are all its attention layers."""

    @property
    def attentions(self) -> list:
        raise NotImplementedError

    def choices(self) -> list[Choice]:
        """List the choices of all layers."""
        listed: list[Choice] = []
        for layer in self.attentions:
            listed += layer.choices
        return listed

    def penalty(self):
        """Add up what the choices of all layers add to the loss, in nats."""
        return sum(choice.penalty() for choice in self.choices())

    def after_step(self) -> None:
        """Let every choice bring its parameters back into range after an optimiser step."""
        for choice in self.choices():
            choice.after_step()

    def facts(self) -> dict:
        """Collect the facts of the choices of all layers."""
        return collect_facts(self.choices())


def collect_facts(choices: Iterable[Choice]) -> dict:
    """Collect facts by layer; mean_span is the mean of the layers', max_span their maximum."""
    facts: dict[str, list] = {}
    for choice in choices:
        for key, value in choice.facts().items():
            facts.setdefault(key, []).append(value)
    if "mean_span" in facts:
        means = facts["mean_span"]
        facts["mean_span"] = sum(means) / len(means)
        facts["max_span"] = max(facts["max_span"])
    return facts
