"""Keys and values of a block and of what came before it, by group of heads.

In training a layer caches its inputs and projects them anew with the weights of the step, without gradient into the
past. In evaluation, where weights do not change, it caches the keys and values of each group instead.
"""

from functools import lru_cache

import torch
from torch import Tensor

from models.attention.engine.partition import Partition
from models.attention.engine.stream_cache import Past


@lru_cache(maxsize=4096)
def head_index(heads: tuple[int, ...], device: torch.device) -> Tensor:
    return torch.tensor(heads, device=device)


def pick_heads(x: Tensor, heads: tuple[int, ...], axis: int) -> Tensor:
    """These heads alone; all of them are not copied."""
    return x if len(heads) == x.size(axis) else x.index_select(axis, head_index(heads, x.device))


class Inputs:
    """In training: the inputs, projected anew for each group."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.x = layer, x.transpose(0, 1)
        self.rows = layer.caches[0].append(past[0], self.x)

    def keys_and_values(self, number: int, heads: tuple[int, ...], reach: int) -> list[Tensor]:
        """Keys K B g dk and values K B g dv that the heads of group `number` reach."""
        rows = self.rows[-(len(self.x) + reach) :]
        past = rows[: len(rows) - len(self.x)].data  # its buffer is appended to, which is no change of these rows
        matrices = (matrix.T.to(rows.dtype) for matrix in _projection_matrices(self.layer, heads))
        projected = (torch.cat([past @ matrix, self.x @ matrix]) for matrix in matrices)
        return [each.unflatten(-1, (len(heads), -1)) for each in projected]

    def next_past(self, groups: Partition) -> Past:
        """The inputs that the layer keeps for the next block."""
        return (self.rows[-self.layer.span.cache_length(max(reach for _, reach in groups)) :],)


class KeysAndValues:
    """In evaluation: each group's own keys and values."""

    def __init__(self, layer, x: Tensor, past: Past):
        self.layer, self.past, self.rows, x = layer, past, [], x.transpose(0, 1)
        self.new = [linear(x).unflatten(-1, (layer.shape.heads, -1)) for linear in (layer.key, layer.value)]

    def keys_and_values(self, number: int, heads: tuple[int, ...], reach: int) -> list[Tensor]:
        """Keys K B g dk and values K B g dv that the heads of group `number` reach. Groups come in order."""
        for part, new in enumerate(self.new, 2 * number):
            self.rows.append(self.layer.caches[part].append(self.past[part], pick_heads(new, heads, 2)))
        return [rows[-(len(self.new[0]) + reach) :] for rows in self.rows[-2:]]

    def next_past(self, groups: Partition) -> Past:
        """A group keeps what it reaches, or what its span needs where reach depends on the input."""
        span = self.layer.span
        lengths = [span.cache_length(reach) if span.follows_input else reach for _, reach in groups for _ in range(2)]
        return tuple(rows[-length:] for rows, length in zip(self.rows, lengths, strict=True))


def _projection_matrices(layer, heads: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """W_k and W_v of these heads: g dk d and g dv d, heads one below the other."""
    matrices = (linear.weight.unflatten(0, (layer.shape.heads, -1)) for linear in (layer.key, layer.value))
    return tuple(pick_heads(matrix, heads, 0).flatten(0, 1) for matrix in matrices)
