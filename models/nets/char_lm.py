"""The sequential character model of Adaptive Attention Span (section 3, released code).

No dropout on embeddings, residuals or outputs; input and output embeddings are separate; a token
does not attend to itself.
"""

from torch import Tensor, nn

from ..attention.choice import Shape
from ..attention.layers import StreamAttention, build_layers
from ..attention.variant import Past
from ..kernels.compiled.dense import Linear
from .blocks import AttentionNet, Block


class CharLM(AttentionNet):
    attends_self = False

    def __init__(self, symbols: int, attention: dict, net: dict):
        """Build a model of V symbols.

        attention: choices by axis. net: layers, d_model, heads, d_ff, dropouts, as in job.json.
        """
        super().__init__()
        shape = Shape(net["d_model"], net["heads"], key_heads=net.get("key_heads"))
        layers = build_layers(
            net["layers"],
            shape,
            attention,
            StreamAttention,
            attends_self=self.attends_self,
            dropout=net["attention_dropout"],
            gate=net.get("gate", False),
        )
        # Drawn after the attention: the order of draws is part of what a seed means.
        self.embedding = nn.Embedding(symbols, shape.d_model)  # N(0, 1)
        self.blocks = nn.ModuleList()
        for layer in layers:
            self.blocks.append(Block(layer, net["d_ff"], net["dropout"]))
        self.output = Linear(shape.d_model, symbols)

    @property
    def attentions(self) -> list:
        return [block.attention for block in self.blocks]

    def start(self, batch: int) -> list[Past]:
        """Make the caches of streams that have not begun, one per layer.

        They are for the mode that the model is in.
        """
        return [layer.start(batch) for layer in self.attentions]

    def forward(self, tokens: Tensor, past: list[Past]) -> tuple[Tensor, list[Past]]:
        """Read tokens: B T -> next-token logits: B T V, and the caches for the next block."""
        x = self.embed(tokens)  # B T d
        caches = []
        for block, cache in zip(self.blocks, past, strict=True):
            x, cache = block(x, cache)
            caches.append(cache)
        return self.read_out(x), caches

    def embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens)

    def read_out(self, x: Tensor) -> Tensor:
        return self.output(x)
