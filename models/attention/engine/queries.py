"""The queries of a block, and all that one group of heads needs to attend with them."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.attention.engine.key_value_cache import pick_heads


@dataclass(frozen=True)
class HeadGroup:
    """Heads that are computed together, as far as the farthest-seeing of them reaches.

    heads: how many. reach: how many keys the farthest-seeing of them sees. span, selection, normaliser: the layer's.
    drop: dropout on the weights; seed: what it is drawn from where the code draws by itself.
    """

    heads: int
    reach: int
    span: nn.Module
    selection: nn.Module
    normaliser: nn.Module
    attends_self: bool
    drop: float = 0.0
    seed: int = 0


class BlockQueries:
    """content and position: queries B h T dk over sqrt(dk); position_keys: dk W or h dk W. None without positions."""

    def __init__(self, layer, q: Tensor, z: Tensor | None, widest: int, *, scaled: bool = True):
        """q: B h T dk, as projected. widest: the most keys that any head sees. scaled: whether by 1 / sqrt(dk)."""
        self.layer, self.z, axis = layer, z, layer.position
        # 16 bits where q has been made so, whatever a position adds in 32
        content, position = axis.content(q).to(q.dtype), axis.query(q).to(q.dtype) if axis.needs_distance else None
        scale = 1 / math.sqrt(layer.shape.d_k)
        self.content = content * scale if scaled else content
        self.position_keys = axis.keys(widest) if widest else None
        if self.position_keys is None:
            self.position = None
        else:
            self.position_keys = self.position_keys.to(q.dtype)
            self.position = self.content if position is content else position * scale if scaled else position

    def of(self, heads: tuple[int, ...], reach: int, k: Tensor, v: Tensor) -> tuple[HeadGroup, tuple]:
        """The group of these heads, and the tensors that `attend_band` takes."""
        layer = self.layer
        q, r, z = (
            None if tensor is None else pick_heads(tensor, heads, -3)
            for tensor in (self.content, self.position, self.z)
        )
        position_keys = self.position_keys
        if position_keys is not None and position_keys.dim() == 3:
            position_keys = pick_heads(position_keys, heads, 0)
        group = HeadGroup(
            heads=len(heads),
            reach=reach,
            span=layer.span,
            selection=layer.selection,
            normaliser=layer.normaliser,
            attends_self=layer.attends_self,
            drop=layer.drop,
            seed=int(torch.randint(2**62, ())) if layer.drop else 0,
        )
        learned = (*layer.selection.parameters(), *layer.normaliser.parameters())
        return group, (q, r, k, v, position_keys, z, [self._of_heads(parameter, heads) for parameter in learned])

    def _of_heads(self, parameter: Tensor, heads: tuple[int, ...]) -> Tensor:
        """A choice's parameter for these heads: a row each, or one that all share."""
        by_head = parameter.dim() and parameter.size(0) == self.layer.shape.heads
        return pick_heads(parameter, heads, 0) if by_head else parameter
