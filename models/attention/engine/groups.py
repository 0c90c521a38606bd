"""Which heads are computed together, those of like reach, and what a group of them needs to attend.

A group computes as many keys for each of its heads as the farthest-seeing of them reaches. Few
groups waste keys, many groups cost the overhead of each; the partition of least cost is found by
dynamic programming.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import Tensor, nn

from ..choice import Shape
from ..positions._position import Position

# Cost of one more group, in keys that a head sees. For a block in training it falls with the work
# that a key means. Measured on two cores: 2 ms for a group forward and backward, 14 us for a key of
# 2,048 queries 64 wide.
GROUP_COST, GROUP_COST_IN_EVALUATION = 20_000_000, 1024

# heads of each group and the farthest reach among them, nearest first
Partition = list[tuple[tuple[int, ...], int]]


def head_groups(layer, z: Tensor | None, queries: int = 0) -> Partition:
    """Group a layer's heads for a block whose span has the extent z.

    queries: of the block in all streams. In evaluation the groups are those for which
    `Engine.start` made the cache.
    """
    reaches = head_reaches(layer, z)
    if layer.training:
        return partition(reaches, GROUP_COST // (queries * layer.shape.d_k))
    return [(heads, max(reaches[head] for head in heads)) for heads in layer.partition]


def evaluation_groups(layer) -> list[tuple[int, ...]]:
    """Group heads for the time that a layer evaluates; all together where reach depends on the
    input.
    """
    if layer.span.follows_input:
        return [tuple(range(layer.shape.heads))]
    return [
        heads
        for heads, _ in partition(
            head_reaches(layer, layer.span.extent(None)), GROUP_COST_IN_EVALUATION
        )
    ]


def head_reaches(layer, z: Tensor | None) -> tuple[int, ...]:
    """Count the keys that each head, or one that shares its keys, can see now: by its span and the
    layer's bounds.
    """
    bound, n = min(layer.bounds(), default=torch.iinfo(torch.int64).max), layer.shape.sharing
    reaches = [min(bound, reach) for reach in layer.span.reach(z).tolist()]
    return tuple(max(reaches[head // n * n : head // n * n + n]) for head in range(len(reaches)))


@lru_cache(maxsize=4096)
def partition(reaches: tuple[int, ...], cost: int) -> Partition:
    """Part the heads, in the order of their reach, so that the sum of cost + heads x farthest reach
    is least.
    """
    order = sorted(range(len(reaches)), key=reaches.__getitem__)
    best: list[tuple[int, list]] = [(0, [])]  # cost and groups of the first n heads
    for stop in range(1, len(order) + 1):
        farthest = reaches[order[stop - 1]]
        options = [
            (best[start][0] + cost + (stop - start) * farthest, start) for start in range(stop)
        ]
        total, start = min(options)
        best.append((total, [*best[start][1], (tuple(sorted(order[start:stop])), farthest)]))
    return best[-1][1]


def width_of_positions(layer) -> int:
    """Count the numbers of a position key, and one for a bias; 0 where the score has neither."""
    kind = type(layer.position)
    return layer.shape.d_k * (kind.keys is not Position.keys) + (kind.bias is not Position.bias)


@lru_cache(maxsize=4096)
def head_index(heads: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(heads, device=device)


def pick_heads(x: Tensor, heads: tuple[int, ...], axis: int) -> Tensor:
    """Pick these heads along an axis; where they are all, nothing is copied."""
    return x if len(heads) == x.size(axis) else x.index_select(axis, head_index(heads, x.device))


def key_heads(heads: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Return the heads of keys that heads of queries share; all that share one are among them."""
    return tuple(head // shape.sharing for head in heads[:: shape.sharing])


def for_all_heads(x: Tensor, shape: Shape, axis: int) -> Tensor:
    """Repeat heads of keys or values for the heads of queries that share them."""
    return x if shape.sharing == 1 else x.repeat_interleave(shape.sharing, axis)


@dataclass(frozen=True)
class FirstKeys:
    """The first n keys of a stream, seen by every query. k, v: n B g d; q: the queries that meet
    them, B g T dk.

    keys: how many there are before the block and in it. far: the farthest x. columns: position keys
    from there on.
    """

    k: Tensor
    v: Tensor
    q: Tensor
    keys: int
    far: int
    columns: int


@dataclass(frozen=True)
class HeadGroup:
    """Heads that are computed together, as far as the farthest-seeing of them reaches.

    heads: how many. reach: how many keys the farthest-seeing of them sees. span, selection,
    normaliser: the layer's.
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
    first: FirstKeys | None = None


class BlockQueries:
    """content and position: queries B h T d over sqrt(dk); position_keys: d W or h d W. None
    without positions.

    d is dk, or one more where a position has a bias: it is the key to a query of 1 beside the
    others.
    """

    def __init__(
        self, layer, q: Tensor, z: Tensor | None, widest: int, keys: int, *, scaled: bool = True
    ):
        """Take q: B h T dk as projected; widest: the most keys that any head sees; keys: how many
        there are before the block and in it; scaled: whether by 1 / sqrt(dk)."""
        self.layer, self.z, self.keys, axis = layer, z, keys, layer.position
        self.reach, first = widest, layer.span.first
        widest = min(widest + first, axis.limit or widest + first) if widest else 0
        scale = 1 / math.sqrt(layer.shape.d_k)

        def made(queries: Tensor) -> Tensor:
            # 16 bits where q has been made so, whatever a position adds in 32
            queries = queries.to(q.dtype)
            return queries * scale if scaled else queries

        place = torch.arange(keys - q.size(-2), keys, device=q.device)
        content, position = axis.turn(axis.content(q), place), axis.query(q)
        self.content = made(content)
        if first:
            nearer = place.clamp(max=self.reach + first - int(layer.attends_self))
            self.to_first = made(axis.turn(axis.content(q), nearer))
        self.position, self.position_keys = None, axis.keys(widest) if widest else None
        if self.position_keys is not None:
            self.position_keys = self.position_keys.to(q.dtype)
            self.position = self.content if position is content else made(position)
        if widest and (bias := axis.bias(torch.arange(widest, 0, -1, device=q.device))) is not None:
            self._add_bias(bias.to(q.dtype), q.new_full((1,), 1.0 if scaled else 1 / scale))

    def _add_bias(self, bias: Tensor, one: Tensor) -> None:
        """Put the bias, h W, below the position keys, and a query of 1 beside their queries."""
        query, keys = one.expand(*self.content.shape[:-1], 1), bias[:, None]
        if self.position_keys is not None:
            query = torch.cat([self.position, query], -1)
            keys = torch.cat([self.position_keys.expand(len(bias), -1, -1), keys], 1)
        self.position, self.position_keys = query, keys

    def of(
        self, heads: tuple[int, ...], reach: int, k: Tensor, v: Tensor
    ) -> tuple[HeadGroup, tuple]:
        """Return the group of these heads, and the tensors that `attend_band` takes."""
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
        return group, (
            q,
            r,
            k,
            v,
            position_keys,
            z,
            [self._of_heads(parameter, heads) for parameter in learned],
        )

    def beside_first(
        self, group: HeadGroup, heads: tuple[int, ...], k: Tensor, v: Tensor
    ) -> HeadGroup:
        """Let a group of heads see the stream's first keys and values, n B g d, as well."""
        far, W = (
            self.reach + self.layer.span.first,
            0 if self.position_keys is None else self.position_keys.size(-1),
        )
        q, columns = pick_heads(self.to_first, heads, -3), W and W - min(group.reach, W) + 1
        return replace(group, first=FirstKeys(k, v, q, self.keys, far, columns))

    def _of_heads(self, parameter: Tensor, heads: tuple[int, ...]) -> Tensor:
        """Pick a choice's parameter for these heads: a row each, or one that all share."""
        by_head = parameter.dim() and parameter.size(0) == self.layer.shape.heads
        return pick_heads(parameter, heads, 0) if by_head else parameter
