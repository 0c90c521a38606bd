"""Which heads are computed together: those of like reach.

A group computes as many keys for each of its heads as the farthest-seeing of them reaches. Few groups waste keys, many
groups cost the overhead of each; the partition of least cost is found by dynamic programming.
"""

from functools import lru_cache

import torch
from torch import Tensor

# Cost of one more group, in keys that a head sees. For a block in training it falls with the work that a key means.
# Measured on two cores: 2 ms for a group forward and backward, 14 us for a key of 2,048 queries 64 wide.
GROUP_COST, GROUP_COST_IN_EVALUATION = 20_000_000, 1024

Partition = list[tuple[tuple[int, ...], int]]  # heads of each group and the farthest reach among them, nearest first


def head_groups(layer, z: Tensor | None, queries: int = 0) -> Partition:
    """The groups of a layer's heads for a block whose span has the extent z.

    queries: of the block in all streams. In evaluation the groups are those for which `Engine.start` made the cache.
    """
    reaches = head_reaches(layer, z)
    if layer.training:
        return partition(reaches, GROUP_COST // (queries * layer.shape.d_k))
    return [(heads, max(reaches[head] for head in heads)) for heads in layer.partition]


def evaluation_groups(layer) -> list[tuple[int, ...]]:
    """The groups that a layer keeps while it evaluates; all heads together where reach depends on the input."""
    if layer.span.follows_input:
        return [tuple(range(layer.shape.heads))]
    return [heads for heads, _ in partition(head_reaches(layer, layer.span.extent(None)), GROUP_COST_IN_EVALUATION)]


def head_reaches(layer, z: Tensor | None) -> tuple[int, ...]:
    """How many keys each head can see now, by its span and by the layer's bounds."""
    bound = min(layer.bounds(), default=torch.iinfo(torch.int64).max)
    return tuple(min(bound, reach) for reach in layer.span.reach(z).tolist())


@lru_cache(maxsize=4096)
def partition(reaches: tuple[int, ...], cost: int) -> Partition:
    """The partition of the heads, in the order of their reach, of the least sum of cost + heads x farthest reach."""
    order = sorted(range(len(reaches)), key=reaches.__getitem__)
    best: list[tuple[int, list]] = [(0, [])]  # cost and groups of the first n heads
    for stop in range(1, len(order) + 1):
        farthest = reaches[order[stop - 1]]
        options = [(best[start][0] + cost + (stop - start) * farthest, start) for start in range(stop)]
        total, start = min(options)
        best.append((total, [*best[start][1], (tuple(sorted(order[start:stop])), farthest)]))
    return best[-1][1]
