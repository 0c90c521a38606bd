"""Transformer-XL (Dai et al. 2019; settings of the released code).

Differs from the sequential model: a token attends to itself, input and output share a matrix,
embeddings are scaled by sqrt(d), dropout also on embeddings and sub-layer outputs, weights are
initialised from N(0, .02).
"""

import math

from torch import Tensor, nn
from torch.nn.functional import dropout

from ..kernels.compiled.dense import linear
from .blocks import Block
from .char_lm import CharLM


class TransformerXLNet(CharLM):
    attends_self = True

    def __init__(self, symbols: int, attention: dict, net: dict):
        super().__init__(symbols, attention, net)
        dropout = net["dropout"]
        # The same attention layers, in blocks with dropout on the output of each sub-layer.
        layers = self.attentions
        self.blocks = nn.ModuleList()
        for layer in layers:
            self.blocks.append(Block(layer, net["d_ff"], dropout, dropout))
        # Input and output share the embedding; of the output layer only the bias is left.
        self.bias = self.output.bias
        del self.output
        self.dropout = dropout
        for module in self.modules():
            _initialise(module)
        # Dropout on the sinusoids, as in the released code.
        for layer in self.attentions:
            layer.position.dropout = dropout
        nn.init.zeros_(self.bias)

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        d_model = x.size(-1)
        return dropout(x * math.sqrt(d_model), self.dropout, self.training)

    def read_out(self, x: Tensor) -> Tensor:
        x = dropout(x, self.dropout, self.training)
        return linear(x, self.embedding.weight, self.bias)


def _initialise(module: nn.Module) -> None:
    """Draw weights from N(0, .02), layer-norm weights from N(1, .02); biases are 0."""
    if isinstance(module, nn.Linear | nn.Embedding | nn.LayerNorm):
        is_norm = isinstance(module, nn.LayerNorm)
        nn.init.normal_(module.weight, 1.0 if is_norm else 0.0, 0.02)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
