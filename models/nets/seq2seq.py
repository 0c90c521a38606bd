"""The encoder-decoder Transformer (Attention Is All You Need, section 3).

    encoder: x = sqrt(d) E[source] + PE;  N times self-attention and feed-forward
    decoder: x = sqrt(d) E'[target] + PE; N times causal self-attention, attention to the source, feed-forward
    logits = x E''

No biases in the attention's projections and the output layer; dropout on the sums at the bottom and on every
sub-layer's output. Pre-norm nets end encoder and decoder with a layer norm.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, linear

from models.attention import Shape, layers
from models.attention.engine.stream_cache import Past, streams
from models.attention.sequence_attention import Projected, SequenceAttention
from models.attention.spans.full import Full
from models.attention.stream_attention import StreamAttention
from models.nets.attention_net import AttentionNet, told
from models.nets.blocks import DecoderBlock, EncoderBlock
from models.nets.positional_encoding import PositionalEncoding

PAD, BOS, EOS = 0, 1, 2
WHERE = ("encoder", "decoder", "cross")
PLAIN = {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}


@dataclass(frozen=True)
class State:
    """What decoding B sentences holds, in R rows of which R / B side by side belong to each sentence (its beams).

    sources: keys and values of the source by layer; visible: B N; past: by layer; length: target tokens read.
    """

    sources: list[Projected]
    visible: Tensor
    past: list[Past]
    length: int = 0

    def rows(self, index: Tensor) -> "State":
        """Row i goes on from row index[i], which belongs to the same sentence; all sentences get equally many rows."""
        return replace(self, past=streams(self.past, index))

    def sentences(self, index: Tensor) -> "State":
        """These sentences alone, with all their rows."""
        beams = self.past[0][0].size(1) // len(self.visible)
        rows = (index[:, None] * beams + torch.arange(beams, device=index.device)).flatten()
        sources = [(keys[index], values[index]) for keys, values in self.sources]
        return replace(self.rows(rows), sources=sources, visible=self.visible[index])


class Seq2Seq(AttentionNet):
    """Reads a source sentence, tells the next token of a target. Tokens 0 pad, 1 bos, 2 eos.

    Span and position of the four choices are those of self-attention: attention to the source has no distances.
    """

    def __init__(self, symbols: int, attention: dict, net: dict):
        """symbols V, of source and target together; attention and net as in job.json.

        attention: four choices and `at`, those of `WHERE` in which span, selection and normaliser apply (elsewhere
        full, all and softmax). net: layers of encoder and of decoder, width, heads, key, value (None: width / heads),
        inner, dropout, attention_dropout, norm, places, longest, share ("all": one matrix for source,
        target and output; "none").
        """
        super().__init__()
        _refuse(attention, net)
        width, max_length, drop, norm = net["d_model"], net["max_length"], net["dropout"], net["norm"]
        encoder, decoder, cross = _attentions(attention, net)
        self.max_length, self.dropout = max_length, drop
        self.encoder = nn.ModuleList(EncoderBlock(layer, net["d_ff"], 0.0, drop, norm) for layer in encoder)
        pairs = zip(decoder, cross, strict=True)
        self.decoder = nn.ModuleList(DecoderBlock(*pair, net["d_ff"], drop, norm) for pair in pairs)
        self.after_encoder, self.after_decoder = (_last(norm, width) for _ in range(2))
        self.source_positions, self.target_positions = (
            PositionalEncoding(net["positional_encoding"], max_length, width) for _ in range(2)
        )
        self.embedding = nn.Embedding(symbols, width)
        shared = net["tie_embeddings"]
        self.target, self.output = (self.embedding if shared else nn.Embedding(symbols, width) for _ in range(2))
        for module in self.modules():
            _start(module)

    @property
    def attentions(self) -> list:
        own = [block.attention for block in (*self.encoder, *self.decoder)]
        return own + [block.cross for block in self.decoder]

    def facts(self) -> dict:
        """Facts of the choices, but of spans that are full: sentences are read whole."""
        return told(one for layer in self.attentions for one in layer.choices if not isinstance(one, Full))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source: B N and target: B T, padded at their ends -> logits for the token after each of target's: B T V."""
        x, _ = self._decode(target, self.encode(source))
        return self._read_out(x)

    def encode(self, source: Tensor) -> State:
        """B N -> the state from which B targets begin, one row each."""
        x, visible = self.enter(source)
        for block in self.encoder:
            x = block(x, visible)
        x = self.after_encoder(x)
        past = [block.attention.start(len(source)) for block in self.decoder]
        return State([block.cross.project(x) for block in self.decoder], visible, past)

    def enter(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """B N -> what the encoder reads, B N d, and which of it is no padding, B N."""
        return self._embed(source, self.embedding, self.source_positions(0, source.size(1))), source != PAD

    def macs_to_enter(self, N: int) -> int:
        """Multiply-accumulates of `enter` for a source of N."""
        return 0

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """The last token of each row, R -> logits for the next, R V, and the state with that token read."""
        return self.read(tokens[:, None], state)

    def read(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """As `step` for several tokens of each row: R T."""
        x, state = self._decode(tokens, state)
        return self._read_out(x[:, -1]), state

    def _decode(self, target: Tensor, state: State) -> tuple[Tensor, State]:
        """R T tokens after those that the state has read -> R T d, and the state with these read."""
        x = self._embed(target, self.target, self.target_positions(state.length, target.size(1)))
        kept = []
        for block, past, source in zip(self.decoder, state.past, state.sources, strict=True):
            x, past = block(x, past, source, state.visible)
            kept.append(past)
        return self.after_decoder(x), replace(state, past=kept, length=state.length + target.size(1))

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, positions: Tensor) -> Tensor:
        x = embedding(tokens) * math.sqrt(embedding.embedding_dim) + positions
        return dropout(x, self.dropout, self.training)

    def _read_out(self, x: Tensor) -> Tensor:
        return linear(x, self.output.weight)


def _attentions(
    attention: dict, net: dict
) -> tuple[list[SequenceAttention], list[StreamAttention], list[SequenceAttention]]:
    """The attention layers of encoder and decoder, and those from the decoder to the source."""
    shape = Shape(net["d_model"], net["heads"], net["d_k"], net["d_v"])
    full = {"span": {"name": "full", "cache": net["max_length"]}}
    encoder, decoder, cross = (
        {**attention, **({} if part in attention["apply_to"] else PLAIN | full)} for part in WHERE
    )
    cross |= {**full, "position": {"name": "none"}}
    count, drop = net["layers"], net["attention_dropout"]
    return (
        layers(count, shape, encoder, SequenceAttention, reads_itself=True, dropout=drop),
        layers(count, shape, decoder, StreamAttention, attends_self=True, dropout=drop),
        layers(count, shape, cross, SequenceAttention, reads_itself=False, dropout=drop),
    )


def _refuse(attention: dict, net: dict) -> None:
    """ValueError, in one line, for what the net cannot be made of."""
    for part in attention["apply_to"]:
        if part not in WHERE:
            raise ValueError(f"unknown part '{part}' in apply_to; valid: {', '.join(WHERE)}")
    span, max_length = attention["span"], net["max_length"]
    caches = [value for value in (span.get("cache"), span.get("evaluation_cache")) if value]
    if min(caches, default=max_length) < max_length:
        raise ValueError(
            f"span {span['name']} remembers {min(caches)}, less than a sentence of max_length = {max_length}"
        )


def _last(norm: str, width: int) -> nn.Module:
    return nn.LayerNorm(width) if norm == "pre" else nn.Identity()


def _start(module: nn.Module) -> None:
    """Projections and feed-forward layers xavier-uniform with biases 0, embeddings N(0, 1 / d)."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, 0.0, module.embedding_dim**-0.5)
