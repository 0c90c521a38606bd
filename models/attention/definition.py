"""A layer computed by the definition: every key that any head might see is projected and scored. Slow; the oracle."""

import torch
from torch import Tensor
from torch.nn.functional import dropout

from models.attention import formula
from models.attention.engine.stream_cache import Past


class Definition:
    """An implementation of `StreamAttention` and `SequenceAttention` beside `Engine`."""

    def start(self, layer, batch: int) -> Past:
        """The cache of streams that have not begun: no inputs, 0 B d."""
        weight = layer.key.weight
        return (weight.new_empty(0, batch, layer.shape.d_model),)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """x: B T d and the inputs before it -> y: B T h dv before the output projection, and the inputs to cache."""
        (inputs,) = past
        inputs = inputs.transpose(0, 1).to(x.dtype)
        bound = min(layer.bounds(), default=inputs.size(1) + x.size(1))
        seen = torch.cat([inputs[:, max(0, inputs.size(1) - bound) :], x], 1)
        k, v = layer.split(layer.key(seen)), layer.split(layer.value(seen))
        y = formula.attend(layer.split(layer.query(x)), k, v, layer.span.extent(x), layer, reach=bound, drop=layer.drop)
        kept = torch.cat([inputs, x.detach()], 1)[:, -layer.span.cache_length(bound) :]
        return y.transpose(1, 2), (kept.transpose(0, 1),)

    def attend_sequence(self, layer, x: Tensor, projected: tuple[Tensor, Tensor, Tensor], visible: Tensor) -> Tensor:
        """y: B h T dv before the output projection. x: B T d; projected: queries B h T dk, keys and values B h N d."""
        q, k, v = projected
        visible, distance, reach = visible[:, None, None], None, k.size(-2)
        if layer.reads_itself:
            index = torch.arange(reach, device=x.device)
            distance, reach = (index[:, None] - index).abs() + 1, min([*layer.bounds(), reach])
            visible = visible & visible.transpose(-1, -2)
        weights = formula.weigh(q, k, layer.span.extent(x), layer, visible, distance, reach)
        return dropout(weights, layer.drop) @ v
