"""A decoder of whole sequences of symbols, without positions added to its input.

Pre-norm blocks (Xiong et al. 2020) with a last layer norm; a symbol attends to itself. Order comes
from the position on its axis alone: `nope` leaves it to the causal mask.
"""

from torch import Tensor, nn

from ..attention.choice import Shape
from ..attention.layers import StreamAttention, build_layers
from ..kernels.compiled.dense import Linear
from .blocks import AttentionNet, Block, Residual


class Decoder(AttentionNet):
    def __init__(self, symbols: int, attention: dict, net: dict):
        """Build a model of V symbols.

        attention: the choices of all axes. net: layers, d_model, heads, d_ff, dropouts and
        embedding_std, as in job.json.
        """
        super().__init__()
        shape = Shape(net["d_model"], net["heads"], key_heads=net.get("key_heads"))
        layers = build_layers(
            net["layers"],
            shape,
            attention,
            StreamAttention,
            attends_self=True,
            dropout=net["attention_dropout"],
            gate=net.get("gate", False),
        )
        self.embedding = nn.Embedding(symbols, shape.d_model)  # N(0, 1)
        # Next to such an embedding what a block adds is small, and the model learns slowly.
        self.embedding.weight.data.mul_(net.get("embedding_std", 1.0))
        self.blocks = nn.ModuleList()
        for layer in layers:
            self.blocks.append(Block(layer, net["d_ff"], net["dropout"], norm="pre"))
        self.last_norm = Residual(shape.d_model, 0.0, "pre")
        self.output = Linear(shape.d_model, symbols)

    @property
    def attentions(self) -> list:
        return [block.attention for block in self.blocks]

    def forward(self, symbols: Tensor, asked: Tensor | None = None) -> Tensor:
        """Read whole sequences: B L -> logits of what to say after each symbol: B L V.

        asked: n places in the B x L symbols; then only the logits after these are computed: n V.
        """
        x = self.embedding(symbols)
        for block in self.blocks:
            x, _ = block(x, block.attention.start(len(x)))
        x = self.last_norm.enter(x)
        if asked is not None:
            x = x.flatten(0, 1)[asked]
        return self.output(x)
