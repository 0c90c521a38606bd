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
from ..variant import Variant, farthest

# Cost of one more group, in keys that a head sees. For a block in training it falls with the work
# that a key means. Measured on two cores: 2 ms for a group forward and backward, 14 us for a key of
# 2,048 queries 64 wide.
GROUP_COST = 20_000_000
GROUP_COST_IN_EVALUATION = 1024

# heads of each group and the farthest reach among them, nearest first
Partition = list[tuple[tuple[int, ...], int]]


def head_groups(layer, z: Tensor | None, queries: int = 0) -> Partition:
    """Group a layer's heads for a block whose span has the extent z.

    queries: of the block in all streams. In evaluation the groups are those for which
    `Engine.start` made the cache.
    """
    reaches = head_reaches(layer, z)
    if layer.training:
        # A key costs as much as it meets numbers of queries.
        cost_of_group = GROUP_COST // (queries * layer.shape.d_k)
        return partition(reaches, cost_of_group)
    groups = []
    for heads in layer.partition:
        reach = max(reaches[head] for head in heads)
        groups.append((heads, reach))
    return groups


def evaluation_groups(layer) -> list[tuple[int, ...]]:
    """Group heads for evaluation; all together where reach depends on the input."""
    if layer.span.follows_input:
        all_heads = tuple(range(layer.shape.heads))
        return [all_heads]
    z = layer.span.extent(None)
    reaches = head_reaches(layer, z)
    groups = partition(reaches, GROUP_COST_IN_EVALUATION)
    return [heads for heads, _ in groups]


def head_reaches(layer: Variant, z: Tensor | None) -> tuple[int, ...]:
    """Count the keys that each head can see now, or one that shares its keys.

    By its span and the limits of the layer, whatever keys there are.
    """
    unlimited = torch.iinfo(torch.int64).max
    bound = farthest(layer, unlimited)
    reaches = layer.span.reach(z).clamp(max=bound).tolist()
    # Heads that share keys need those of the farthest-seeing among them.
    n = layer.shape.sharing
    shared = []
    for first in range(0, len(reaches), n):
        sharing = reaches[first : first + n]
        shared += n * [max(sharing)]
    return tuple(shared)


@lru_cache(maxsize=4096)
def partition(reaches: tuple[int, ...], cost: int) -> Partition:
    """Part the heads, in the order of their reach, into the groups of least cost.

    A group costs `cost` + its heads x the farthest reach among them.
    """
    # Groups of like reach are neighbours in the order of reach.
    order = sorted(range(len(reaches)), key=reaches.__getitem__)
    # best[n]: the least cost of the first n heads in that order, and their groups.
    best: list[tuple[int, Partition]] = [(0, [])]
    for stop in range(1, len(order) + 1):
        # The last of the heads start .. stop - 1 reaches farthest.
        reach = reaches[order[stop - 1]]
        options = []
        for start in range(stop):
            cost_before, _ = best[start]
            keys_of_group = (stop - start) * reach
            total = cost_before + cost + keys_of_group
            options.append((total, start))
        # The last group begins where the total is least.
        total, start = min(options)
        heads = tuple(sorted(order[start:stop]))
        _, groups_before = best[start]
        best.append((total, [*groups_before, (heads, reach)]))
    return best[-1][1]


def width_of_positions(layer: Variant) -> int:
    """Count the numbers of a position key, and one for a bias; 0 where the score has neither."""
    position = layer.position
    width = layer.shape.d_k if position.has_keys else 0
    # The bias of a distance is one more number of its position key: see `BlockQueries`.
    return width + 1 if position.has_bias else width


@lru_cache(maxsize=4096)
def head_index(heads: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(heads, device=device)


def pick_heads(x: Tensor, heads: tuple[int, ...], axis: int) -> Tensor:
    """Pick these heads along an axis; where they are all, nothing is copied."""
    if len(heads) == x.size(axis):
        return x
    index = head_index(heads, x.device)
    return x.index_select(axis, index)


def key_heads(heads: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Return the heads of keys that heads of queries share; all that share one are among them."""
    return tuple(head // shape.sharing for head in heads[:: shape.sharing])


@dataclass(frozen=True)
class FirstKeys:
    """The first n keys of a stream, seen by every query.

    k, v: n B g d. q: the queries that meet them, B g T dk. keys: how many there are before the
    block and in it. far: the farthest x. columns: position keys from there on.
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
    normaliser: the layer's. drop: dropout on the weights; seed: what it is drawn from where the
    code draws by itself. first: the first keys of the stream, where every query sees them.
    """

    heads: int
    reach: int
    span: nn.Module
    score_scale: nn.Module
    selection: nn.Module
    normaliser: nn.Module
    attends_self: bool
    drop: float = 0.0
    seed: int = 0
    first: FirstKeys | None = None


@dataclass(frozen=True)
class Operands:
    """The tensors with which a group of g heads attends.

    q, r: B g T dk, content and position queries, over sqrt(dk); r is None without position keys.
    k: K B g dk and v: K B g dv, the last T the block's own; for `compiled.attend_layer` and
    `attend_sequence` laid out as these say, and queries are not scaled. position_keys: dk W or
    g dk W, W at least the group's reach, the last column x = 1. z: the span's extent, g 1 1 or
    B g T 1, or None. parameters: of selection and normaliser, for these heads.
    """

    q: Tensor
    r: Tensor | None
    k: Tensor
    v: Tensor
    position_keys: Tensor | None
    z: Tensor | None
    parameters: list[Tensor]


class BlockQueries:
    """The queries of a block, and the keys of distances that they meet.

    content and position: queries B h T d over sqrt(dk); position_keys: d W or h d W. The last two
    are None without positions. d is dk, or one more where a position has a bias: the bias is a
    further number of each position key, and meets a further number of each query, which is 1.
    """

    def __init__(
        self,
        layer: Variant,
        q: Tensor,
        z: Tensor | None,
        widest: int,
        keys: int,
        *,
        scaled: bool = True,
        s: Tensor | None = None,
    ):
        """Prepare q: B h T dk as projected.

        z: the span's extent. widest: the most keys that any head sees. keys: how many there are
        before the block and in it. scaled: whether queries are multiplied by 1 / sqrt(dk). s: what
        multiplies the scores of each query, B h T 1 or h T 1.
        """
        self.layer = layer
        self.z = z
        self.keys = keys
        self.reach = widest
        scale = 1 / math.sqrt(layer.shape.d_k)
        self._scale = scale if scaled else None
        self._dtype = q.dtype
        self._s = s

        # The last T keys are the places of the queries.
        T = q.size(-2)
        place = torch.arange(keys - T, keys, device=q.device)
        axis = layer.position
        content = axis.turn(axis.content(q), place)
        # B h T dk, without a term by distance the queries themselves
        position = axis.query(q)
        self.content = self._prepared(content)
        first = layer.span.first
        if first:
            # For the first keys a query is never farther than just beyond the reach.
            behind = widest + first - int(layer.attends_self)
            nearer = place.clamp(max=behind)
            to_first = axis.turn(axis.content(q), nearer)
            self.to_first = self._prepared(to_first)

        self.position = None
        self.position_keys = None
        # Nobody sees a key, or keys have no distance.
        if not widest:
            return
        # The first keys count as at most `first` farther than the reach.
        columns = widest + first
        if axis.limit:
            columns = min(columns, axis.limit)
        position_keys = axis.keys(columns)
        if position_keys is not None:
            self.position_keys = position_keys.to(q.dtype)
            # Where a position changes no query, the same tensor serves twice.
            is_content = position is content
            self.position = self.content if is_content else self._prepared(position)
        x = torch.arange(columns, 0, -1, device=q.device)
        bias = axis.bias(x)
        if bias is not None:
            # A query of 1, also where the kernel will scale it like the others.
            one = 1.0 if scaled else 1 / scale
            self._add_bias(bias.to(q.dtype), q.new_full((1,), one))

    def _prepared(self, queries: Tensor) -> Tensor:
        if self._s is not None:
            queries = queries * self._s
        # 16 bits where q has been made so, whatever a position adds in 32
        queries = queries.to(self._dtype)
        if self._scale is None:
            return queries
        return queries * self._scale

    def _add_bias(self, bias: Tensor, one: Tensor) -> None:
        """Put the bias, h W, below the position keys, and a query of 1 next to their queries."""
        *sizes, _ = self.content.shape
        query = one.expand(*sizes, 1)  # B h T 1
        keys = bias[:, None]  # h 1 W
        if self.position_keys is not None:
            query = torch.cat([self.position, query], -1)
            by_head = self.position_keys.expand(len(bias), -1, -1)
            keys = torch.cat([by_head, keys], 1)
        self.position = query
        self.position_keys = keys

    def of(
        self, heads: tuple[int, ...], reach: int, k: Tensor, v: Tensor
    ) -> tuple[HeadGroup, Operands]:
        """Return the group of these heads, and what it attends with: k and v are theirs."""
        layer = self.layer
        position_keys = self.position_keys
        by_head = position_keys is not None and position_keys.dim() == 3  # h d W
        if by_head:
            position_keys = pick_heads(position_keys, heads, 0)
        group = HeadGroup(
            heads=len(heads),
            reach=reach,
            span=layer.span,
            score_scale=layer.score_scale,
            selection=layer.selection,
            normaliser=layer.normaliser,
            attends_self=layer.attends_self,
            drop=layer.drop,
            # Drawn from the state of torch: a run with the same seed draws the same.
            seed=int(torch.randint(2**62, ())) if layer.drop else 0,
        )
        learned = (*layer.selection.parameters(), *layer.normaliser.parameters())
        parameters = [self._of_heads(parameter, heads) for parameter in learned]
        # Heads are the axis before the last two: B h T d, and z is h 1 1 or B h T 1.
        q = pick_heads(self.content, heads, -3)
        r = None
        if self.position is not None:
            r = pick_heads(self.position, heads, -3)
        z = None
        if self.z is not None:
            z = pick_heads(self.z, heads, -3)
        operands = Operands(
            q=q,
            r=r,
            k=k,
            v=v,
            position_keys=position_keys,
            z=z,
            parameters=parameters,
        )
        return group, operands

    def with_first(
        self, group: HeadGroup, heads: tuple[int, ...], k: Tensor, v: Tensor
    ) -> HeadGroup:
        """Let a group of heads see the stream's first keys and values, n B g d, as well."""
        columns = 0
        if self.position_keys is not None:
            # x = W .. reach: nearer keys have their score in the band.
            W = self.position_keys.size(-1)
            nearest = min(group.reach, W)
            columns = W - nearest + 1
        first = FirstKeys(
            k=k,
            v=v,
            q=pick_heads(self.to_first, heads, -3),
            keys=self.keys,
            far=self.reach + self.layer.span.first,
            columns=columns,
        )
        return replace(group, first=first)

    def _of_heads(self, parameter: Tensor, heads: tuple[int, ...]) -> Tensor:
        """Pick a choice's parameter for these heads: a row each, or one that all share."""
        by_head = parameter.dim() and parameter.size(0) == self.layer.shape.heads
        if not by_head:
            return parameter
        return pick_heads(parameter, heads, 0)
