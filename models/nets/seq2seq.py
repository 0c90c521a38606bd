"""The encoder-decoder Transformer (Attention Is All You Need, section 3).

    encoder: x = sqrt(d) E[source] + PE;  N times self-attention and feed-forward
    decoder: x = sqrt(d) E'[target] + PE; N times causal self-attention, attention to the source,
             and feed-forward;  logits = x E''

No biases in the attention's projections and the output layer; dropout on the sums at the bottom and
on every sub-layer's output. Pre-norm models end encoder and decoder with a layer norm.
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

# Tokens that every vocabulary begins with.
PAD = 0
BOS = 1
EOS = 2
ATTENTIONS = ("encoder", "decoder", "cross")  # kinds of attention to which choices may apply
PLAIN = {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}


@dataclass(frozen=True)
class _State:
    """The state of decoding B sentences in R rows, R / B of each sentence (its beams) in turn.

    sources: keys and values of the source by layer; visible: B N; past: by layer; length: target
    tokens read.
    """

    sources: list[Source]
    visible: Tensor
    past: list[Past]
    length: int = 0

    def rows(self, index: Tensor) -> "_State":
        """Let row i continue row index[i] of the same sentence.

        All sentences get equally many rows.
        """
        return replace(self, past=streams(self.past, index))

    def sentences(self, index: Tensor) -> "_State":
        """Keep some sentences alone, with all their rows."""
        cached = self.past[0][0]  # K R ..
        beams = cached.size(1) // len(self.visible)
        first_row = index[:, None] * beams
        rows = first_row + torch.arange(beams, device=index.device)
        kept = self.rows(rows.flatten())
        sources = []
        for keys, values in self.sources:
            source = (keys[index], values[index])
            sources.append(source)
        return replace(kept, sources=sources, visible=self.visible[index])


class Seq2Seq(AttentionNet):
    """Reads a source sentence, predicts the next token of a target. Tokens 0 pad, 1 bos, 2 eos.

    Span and position apply in self-attention alone: attention to the source has no distances.
    """

    def __init__(self, symbols: int, attention: dict, net: dict):
        """Build a model of V symbols, of source and target together.

        ValueError for settings that cannot be. attention: choices by axis and `apply_to`, those of
        `ATTENTIONS` to which span, selection and normaliser apply (elsewhere full, all and
        softmax). net: layers of encoder and of decoder, d_model, heads, d_k and d_v (None: d_model
        / heads), d_ff, dropout, attention_dropout, norm, positional_encoding, max_length,
        tie_embeddings (one matrix for source, target and output).
        """
        super().__init__()
        _refuse(attention, net)
        d_model = net["d_model"]
        d_ff = net["d_ff"]
        norm = net["norm"]
        encoding = net["positional_encoding"]
        self.max_length = net["max_length"]
        self.dropout = net["dropout"]

        encoder, decoder, cross = _attentions(attention, net)
        self.encoder = nn.ModuleList()
        for layer in encoder:
            self.encoder.append(EncoderBlock(layer, d_ff, 0.0, self.dropout, norm))
        self.decoder = nn.ModuleList()
        for layer, to_source in zip(decoder, cross, strict=True):
            self.decoder.append(DecoderBlock(layer, to_source, d_ff, self.dropout, norm))
        is_pre = norm == "pre"
        self.after_encoder = nn.LayerNorm(d_model) if is_pre else nn.Identity()
        self.after_decoder = nn.LayerNorm(d_model) if is_pre else nn.Identity()

        self.source_positions = PositionalEncoding(encoding, self.max_length, d_model)
        self.target_positions = PositionalEncoding(encoding, self.max_length, d_model)
        # E, E' and E'': one matrix, or one each.
        self.embedding = nn.Embedding(symbols, d_model)
        is_tied = net["tie_embeddings"]
        self.target = self.embedding if is_tied else nn.Embedding(symbols, d_model)
        self.output = self.embedding if is_tied else nn.Embedding(symbols, d_model)
        for module in self.modules():
            _initialise(module)

    @property
    def attentions(self) -> list:
        of_encoder = [block.attention for block in self.encoder]
        of_decoder = [block.attention for block in self.decoder]
        cross = [block.cross for block in self.decoder]
        return of_encoder + of_decoder + cross

    def facts(self) -> dict:
        """Collect the facts of all choices but full spans: sentences are read whole."""
        return collect_facts(choice for choice in self.choices() if choice.needs_distance)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Read source: B N and target: B T, padded at their ends -> next-token logits: B T V."""
        x, _ = self._decode(target, self.encode(source))
        return self._read_out(x)

    def encode(self, source: Tensor) -> _State:
        """Read sources B N -> the state in which B targets begin, a row each."""
        B = len(source)
        x, visible = self.enter(source)
        for block in self.encoder:
            x = block(x, visible)
        x = self.after_encoder(x)
        past = [block.attention.start(B) for block in self.decoder]
        return _State(self._project(x), visible, past)

    def _project(self, x: Tensor) -> list[Source]:
        """Project keys and values of the read source, B N d, for every layer of the decoder."""
        # One call for all layers: the source is read once.
        matrices = []
        heads = []
        for block in self.decoder:
            cross = block.cross
            matrices += [cross.key.weight, cross.value.weight]
            heads += 2 * [cross.shape.key_heads]
        projected = by_heads(x, tuple(heads), *matrices)
        # Keys and values of the first layer, of the second, ..
        keys = projected[::2]
        values = projected[1::2]
        return list(zip(keys, values, strict=True))

    def enter(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Embed sources B N -> the encoder's inputs, B N d, and B N, False at padding."""
        positions = self.source_positions(0, source.size(1))
        return self._embed(source, self.embedding, positions), source != PAD

    def macs_to_enter(self, N: int) -> int:
        """Count the MACs of `enter` for a source of N."""
        return 0

    def step(self, tokens: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read one more token of each row, R -> logits for the next, R V, and the next state."""
        return self.read(tokens[:, None], state)

    def read(self, tokens: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read several more tokens of each row, R T, as `step` does."""
        x, state = self._decode(tokens, state)
        last = x[:, -1]
        return self._read_out(last), state

    def _decode(self, target: Tensor, state: _State) -> tuple[Tensor, _State]:
        """Read R T tokens that follow those of the state -> R T d, and the next state."""
        # Positions go on from the last token that was read.
        T = target.size(1)
        positions = self.target_positions(state.length, T)
        x = self._embed(target, self.target, positions)
        caches = []
        layers = zip(self.decoder, state.past, state.sources, strict=True)
        for block, past, source in layers:
            x, past = block(x, past, source, state.visible)
            caches.append(past)
        x = self.after_decoder(x)
        after = replace(state, past=caches, length=state.length + T)
        return x, after

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, positions: Tensor) -> Tensor:
        # Drawn from N(0, 1 / d), embeddings become as large as the sinusoids.
        scale = math.sqrt(embedding.embedding_dim)
        x = embedding(tokens) * scale + positions
        return dropout(x, self.dropout, self.training)

    def _read_out(self, x: Tensor) -> Tensor:
        return linear(x, self.output.weight)


def _attentions(attention: dict, net: dict) -> tuple[list, list, list]:
    """Build the attention layers of the encoder, the decoder, and from decoder to source."""
    shape = Shape(
        d_model=net["d_model"],
        heads=net["heads"],
        d_k=net["d_k"],
        d_v=net["d_v"],
        key_heads=net.get("key_heads"),
    )
    # A sentence of any length that the model takes is seen whole.
    full = {"span": {"name": "full", "cache": net["max_length"]}}

    def choices(part: str) -> dict:
        if part in attention["apply_to"]:
            return attention
        return attention | PLAIN | full

    # Between two sentences there are no distances, for a span or a position.
    to_source = choices("cross") | full | {"position": {"name": "none"}}
    # Built in this order, in which they draw their weights: it is part of what a seed means.
    encoder = build_layers(
        net["layers"],
        shape,
        choices("encoder"),
        SequenceAttention,
        reads_itself=True,
        dropout=net["attention_dropout"],
        gate=net.get("gate", False),
    )
    decoder = build_layers(
        net["layers"],
        shape,
        choices("decoder"),
        StreamAttention,
        attends_self=True,
        dropout=net["attention_dropout"],
        gate=net.get("gate", False),
    )
    cross = build_layers(
        net["layers"],
        shape,
        to_source,
        SequenceAttention,
        reads_itself=False,
        dropout=net["attention_dropout"],
        gate=net.get("gate", False),
    )
    return encoder, decoder, cross


def _refuse(attention: dict, net: dict) -> None:
    """Raise ValueError, in one line, for settings that the model cannot be built from."""
    for part in attention["apply_to"]:
        if part not in ATTENTIONS:
            valid = ", ".join(ATTENTIONS)
            raise ValueError(f"unknown part '{part}' in apply_to; valid: {valid}")
    # A decoder keeps the whole target so far.
    span = attention["span"]
    max_length = net["max_length"]
    for key in ("cache", "evaluation_cache"):
        if span.get(key) and span[key] < max_length:
            raise ValueError(
                f"span {span['name']} caches {span[key]}, "
                f"less than a sentence of max_length = {max_length}"
            )


def _initialise(module: nn.Module) -> None:
    """Draw linear layers xavier-uniform with biases 0, embeddings from N(0, 1 / d)."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    # An embedding that is tied to the output is drawn as an embedding.
    if isinstance(module, nn.Embedding):
        deviation = module.embedding_dim**-0.5
        nn.init.normal_(module.weight, 0.0, deviation)
