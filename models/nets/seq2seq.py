"""The encoder-decoder Transformer (Attention Is All You Need, section 3).

    encoder: x = sqrt(d) E[source] + PE;  N times self-attention and feed-forward
    decoder: x = sqrt(d) E'[target] + PE; N times causal self-attention, attention to the source,
    feed-forward logits = x E''

No biases in the attention's projections and the output layer; dropout on the sums at the bottom and
on every sub-layer's output. Pre-norm nets end encoder and decoder with a layer norm.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from ..attention.choice import Shape
from ..attention.engine.caches import streams
from ..attention.layers import SequenceAttention, Source, StreamAttention, build_layers
from ..attention.variant import Past
from ..kernels.compiled.dense import by_heads, linear
from .blocks import AttentionNet, DecoderBlock, EncoderBlock, PositionalEncoding, collect_facts

PAD, BOS, EOS = 0, 1, 2
ATTENTIONS = ("encoder", "decoder", "cross")  # kinds of attention to which choices may apply
PLAIN = {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}


@dataclass(frozen=True)
class _State:
    """The state of decoding B sentences in R rows, R / B side by side for each sentence (its
    beams).

    sources: keys and values of the source by layer; visible: B N; past: by layer; length: target
    tokens read.
    """

    sources: list[Source]
    visible: Tensor
    past: list[Past]
    length: int = 0

    def rows(self, index: Tensor) -> "_State":
        """Let row i continue row index[i] of the same sentence; all sentences get equally many
        rows.
        """
        return replace(self, past=streams(self.past, index))

    def sentences(self, index: Tensor) -> "_State":
        """Keep some sentences alone, with all their rows."""
        beams = self.past[0][0].size(1) // len(self.visible)
        rows = (index[:, None] * beams + torch.arange(beams, device=index.device)).flatten()
        sources = [(keys[index], values[index]) for keys, values in self.sources]
        return replace(self.rows(rows), sources=sources, visible=self.visible[index])


class Seq2Seq(AttentionNet):
    """Reads a source sentence, predicts the next token of a target. Tokens 0 pad, 1 bos, 2 eos.

    Span and position apply in self-attention alone: attention to the source has no distances.
    """

    def __init__(self, symbols: int, attention: dict, net: dict):
        """Build a net of V symbols, of source and target together; ValueError for settings that
        cannot be.

        attention: four choices and `apply_to`, those of `ATTENTIONS` to which span, selection and
        normaliser apply (elsewhere full, all and softmax). net: layers of encoder and of decoder,
        d_model, heads, d_k and d_v (None: d_model / heads), d_ff, dropout, attention_dropout, norm,
        positional_encoding, max_length, tie_embeddings (one matrix for source, target and output).
        """
        super().__init__()
        _refuse(attention, net)
        d_model, max_length, drop, norm = (
            net["d_model"],
            net["max_length"],
            net["dropout"],
            net["norm"],
        )
        encoder, decoder, cross = _attentions(attention, net)
        self.max_length, self.dropout = max_length, drop
        self.encoder = nn.ModuleList(
            EncoderBlock(layer, net["d_ff"], 0.0, drop, norm) for layer in encoder
        )
        pairs = zip(decoder, cross, strict=True)
        self.decoder = nn.ModuleList(DecoderBlock(*pair, net["d_ff"], drop, norm) for pair in pairs)
        last_norms = (nn.LayerNorm(d_model) if norm == "pre" else nn.Identity() for _ in range(2))
        self.after_encoder, self.after_decoder = last_norms
        self.source_positions, self.target_positions = (
            PositionalEncoding(net["positional_encoding"], max_length, d_model) for _ in range(2)
        )
        self.embedding = nn.Embedding(symbols, d_model)
        tied = net["tie_embeddings"]
        self.target, self.output = (
            self.embedding if tied else nn.Embedding(symbols, d_model) for _ in range(2)
        )
        for module in self.modules():
            _initialise(module)

    @property
    def attentions(self) -> list:
        own = [block.attention for block in (*self.encoder, *self.decoder)]
        return own + [block.cross for block in self.decoder]

    def facts(self) -> dict:
        """Collect the facts of all choices but spans that see all of a sentence: they say nothing."""
        choices = (choice for layer in self.attentions for choice in layer.choices)
        return collect_facts(choice for choice in choices if choice.needs_distance)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Read source: B N and target: B T, padded at their ends -> logits for each token's next: B
        T V.
        """
        x, _ = self._decode(target, self.encode(source))
        return self._read_out(x)

    def encode(self, source: Tensor) -> _State:
        """Read sources B N -> the state in which B targets begin, a row each."""
        x, visible = self.enter(source)
        for block in self.encoder:
            x = block(x, visible)
        x = self.after_encoder(x)
        past = [block.attention.start(len(source)) for block in self.decoder]
        return _State(self._project(x), visible, past)

    def _project(self, x: Tensor) -> list[Source]:
        """Project keys and values of the read source, B N d, for every layer of the decoder."""
        layers = [block.cross for block in self.decoder]
        matrices = [matrix.weight for layer in layers for matrix in (layer.key, layer.value)]
        projected = by_heads(x, len(matrices) * (layers[0].shape.key_heads,), *matrices)
        return list(zip(projected[::2], projected[1::2], strict=True))

    def enter(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Embed sources B N -> the encoder's inputs, B N d, and B N, False at padding."""
        return self._embed(
            source, self.embedding, self.source_positions(0, source.size(1))
        ), source != PAD

    def macs_to_enter(self, N: int) -> int:
        """Count the multiply-accumulates of `enter` for a source of N."""
        return 0

    def step(self, tokens: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read one more token of each row, R -> logits for the next, R V, and the state after
        it.
        """
        return self.read(tokens[:, None], state)

    def read(self, tokens: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read several more tokens of each row, R T, as `step` does."""
        x, state = self._decode(tokens, state)
        return self._read_out(x[:, -1]), state

    def _decode(self, target: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read R T tokens that follow those of the state -> R T d, and the state after reading
        them.
        """
        x = self._embed(target, self.target, self.target_positions(state.length, target.size(1)))
        caches = []
        for block, past, source in zip(self.decoder, state.past, state.sources, strict=True):
            x, past = block(x, past, source, state.visible)
            caches.append(past)
        return self.after_decoder(x), replace(
            state, past=caches, length=state.length + target.size(1)
        )

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, positions: Tensor) -> Tensor:
        x = embedding(tokens) * math.sqrt(embedding.embedding_dim) + positions
        return dropout(x, self.dropout, self.training)

    def _read_out(self, x: Tensor) -> Tensor:
        return linear(x, self.output.weight)


def _attentions(attention: dict, net: dict) -> tuple[list, list, list]:
    """Build the attention layers of the encoder, of the decoder, and from the decoder to the
    source.
    """
    shape = Shape(net["d_model"], net["heads"], net["d_k"], net["d_v"], net.get("key_heads"))
    full = {"span": {"name": "full", "cache": net["max_length"]}}
    encoder, decoder, cross = (
        {**attention, **({} if part in attention["apply_to"] else PLAIN | full)}
        for part in ATTENTIONS
    )
    cross |= {**full, "position": {"name": "none"}}
    count, drop = net["layers"], net["attention_dropout"]
    return (
        build_layers(count, shape, encoder, SequenceAttention, reads_itself=True, dropout=drop),
        build_layers(count, shape, decoder, StreamAttention, attends_self=True, dropout=drop),
        build_layers(count, shape, cross, SequenceAttention, reads_itself=False, dropout=drop),
    )


def _refuse(attention: dict, net: dict) -> None:
    """Raise ValueError, in one line, for settings that the net cannot be built from."""
    for part in attention["apply_to"]:
        if part not in ATTENTIONS:
            raise ValueError(f"unknown part '{part}' in apply_to; valid: {', '.join(ATTENTIONS)}")
    span, max_length = attention["span"], net["max_length"]
    caches = [value for value in (span.get("cache"), span.get("evaluation_cache")) if value]
    if min(caches, default=max_length) < max_length:
        raise ValueError(
            f"span {span['name']} caches {min(caches)}, less than a sentence of max_length = {max_length}"
        )


def _initialise(module: nn.Module) -> None:
    """Draw projections and feed-forward layers xavier-uniform with biases 0, embeddings from N(0, 1
    / d).
    """
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, 0.0, module.embedding_dim**-0.5)
