"""The k keys that each query of a chunk keeps, and their weights."""

import math

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from models.attention.engine.chunks import Chunk
from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.rows import substituted
from models.attention.engine.scratch import SCRATCH


def largest(s: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest scores of each row and their columns, .. k; more where some row has ties with its k-th."""
    if k >= s.size(-1):
        return s, torch.arange(s.size(-1), device=s.device).expand_as(s)
    best, column = s.topk(k + 1, -1)
    threshold, beyond = best[..., -2:-1], best[..., -1:]
    if not ((beyond == threshold) & (beyond > -math.inf)).any():
        return best[..., :-1], column[..., :-1]
    best, column = s.topk(int(((s >= threshold) & (s > -math.inf)).sum(-1).max().clamp(min=k)), -1)
    return best.masked_fill(best < threshold, -math.inf), column


class KeptKeys:
    """What a chunk's queries keep, all n c k.

    key, position: rows of the tables of keys and of position keys. x: distances. w: weights. by_head: the weights as
    autograd made them of `score`, the kept scores, b g c k.
    """

    def __init__(self, group: HeadGroup, chunk: Chunk, s: Tensor, k: Tensor, position_keys: Tensor | None, parameters):
        W, c, g, B = chunk.window, chunk.c, group.heads, k.size(1)
        best, column = largest(s, group.selection.k)
        item = torch.arange(len(s), device=s.device)[:, None, None]
        stream, head = chunk.streams.start + item // g, item % g
        row = (chunk.keys.start - chunk.missing + column).clamp(min=0)  # a column before the stream has weight 0
        self.key = (row * B + stream) * g + head
        self.x = (W + torch.arange(c, device=s.device)[:, None] - column).clamp(1, W)
        if position_keys is not None:
            first = head * position_keys.size(-1) if position_keys.dim() == 3 else 0
            self.position = position_keys.size(-1) - self.x + first
        with torch.enable_grad():
            self.score = chunk.by_head(best.clone()).requires_grad_()
            self.parameters = [parameter.detach().requires_grad_(parameter.requires_grad) for parameter in parameters]
            self.by_head = self._weights(group, chunk.blind)
        self.w = self.by_head.detach().to(best.dtype).flatten(0, 1)  # a normaliser may give more bits than it was given
        self.factors: Tensor | None = None  # of dropout

    def _weights(self, group: HeadGroup, blind: bool) -> Tensor:
        """normalise(score), b g c k; 0 for a first query that sees no key."""
        score = self.score
        if blind:
            score = torch.cat([torch.zeros_like(score[..., :1, :]), score[..., 1:, :]], -2)
        with substituted(self.parameters, group.normaliser):
            w = group.normaliser(score)
        return torch.cat([torch.zeros_like(w[..., :1, :]), w[..., 1:, :]], -2) if blind else w

    @property
    def dropped(self) -> Tensor:
        """The weights after dropout."""
        return self.w if self.factors is None else self.w * self.factors

    def backward(self, dw: Tensor) -> tuple[Tensor, list]:
        """dw: n c k -> ds: n c k, and the gradients of the normaliser's parameters."""
        learned = [parameter for parameter in self.parameters if parameter.requires_grad]
        dw = dw.view_as(self.by_head).to(self.by_head.dtype)
        ds, *gradients = torch.autograd.grad(self.by_head, [self.score, *learned], dw, retain_graph=True)
        return ds.flatten(0, 1), gradients


def weighted_sum(table: Tensor, rows: Tensor, weights: Tensor) -> Tensor:
    """sum_i weights_i table[rows_i]: n c k -> n c d."""
    sums = embedding_bag(rows.flatten(0, 1), table, mode="sum", per_sample_weights=weights.flatten(0, 1))
    return sums.unflatten(0, rows.shape[:2])


def dot(table: Tensor, rows: Tensor, x: Tensor) -> Tensor:
    """table[rows_i] . x: n c k from x: n c d."""
    gathered = SCRATCH.take("outer", (rows.numel(), x.size(-1)), x)
    torch.index_select(table, 0, rows.flatten(), out=gathered)
    return torch.bmm(gathered.view(-1, rows.size(-1), x.size(-1)), x.reshape(-1, x.size(-1), 1)).view(rows.shape)


def add_outer(table: Tensor, rows: Tensor, weights: Tensor, x: Tensor) -> None:
    """table[rows_i] += weights_i x, x: n c d."""
    shape = (*rows.shape, x.size(-1))
    outer = torch.mul(weights[..., None], x[..., None, :], out=SCRATCH.take("outer", shape, x))
    table.index_add_(0, rows.flatten(), outer.flatten(0, 2))
