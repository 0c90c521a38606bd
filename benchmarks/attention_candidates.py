"""Ways to compute attention with position keys and learned spans, all called as the kernel is.

    candidate(q, r, k, v, position_keys, z, reach, *, ramp, attends_self) -> B h T dv

q, r: B h T d, over sqrt(d); k, v: B h K d, the last T keys the block's own. position_keys: d W, of
x = W .. 1. z: h 1 1 with its ramp, or both None; reach: (h,), the keys that a head sees. See
`models/kernels/banded.py`.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from benchmarks.peers import released_layer
from models.attention.spans._ramp import log_ramp

Attend = Callable[..., Tensor]
BLOCK = 128  # queries and keys of a block of flex_attention
ALIGNED = 8  # columns to which the memory-efficient kernel wants a mask padded


def position_bias(r: Tensor, position_keys: Tensor, z: Tensor | None, ramp: int | None) -> Tensor:
    """Compute r P + log m by distance: B h T W, columns x = W .. 1."""
    scores = r @ position_keys.to(r.dtype)
    if z is None:
        return scores
    distances = torch.arange(position_keys.size(-1), 0, -1, device=r.device)
    return scores + log_ramp(distances, z, ramp).to(scores.dtype)


def by_key(bias: Tensor, reach: Tensor, K: int, attends_self: bool) -> Tensor:
    """Put columns by distance below the keys that they are of: B h T K, -inf for unseen keys."""
    T, W = bias.shape[-2:]
    queries = torch.arange(K - T, K, device=bias.device)[:, None]
    keys = torch.arange(K, device=bias.device)
    x = queries - keys + int(attends_self)
    farthest = reach.to(x.device).view(-1, 1, 1).clamp(max=W)
    seen = (x >= 1) & (x <= farthest)
    # the column of a distance; those of unseen keys are any, and masked
    columns = (W - x).clamp(0, W - 1)
    scores = bias.gather(-1, columns.expand(*bias.shape[:-1], -1))
    return scores.masked_fill(~seen, -math.inf)


def dense(q, r, k, v, position_keys, z, reach, *, ramp, attends_self, **_) -> Tensor:
    """Score every key, and leave out what no head sees."""
    by_distance = position_bias(r, position_keys, z, ramp)
    bias = by_key(by_distance, reach, k.size(2), attends_self)
    scores = q @ k.transpose(-1, -2) + bias
    weights = scores.softmax(-1)
    # a query that sees no key has NaN
    return weights.nan_to_num(0.0) @ v


def sdpa(q, r, k, v, position_keys, z, reach, *, ramp, attends_self, **_) -> Tensor:
    """Give the bias to torch's memory-efficient kernel as a mask."""
    bias = position_bias(r, position_keys, z, ramp)
    mask = by_key(bias, reach, k.size(2), attends_self)
    K = mask.size(-1)
    padding = -K % ALIGNED
    if padding:
        mask = F.pad(mask, (0, padding))[..., :K]
    backend = SDPBackend.EFFICIENT_ATTENTION if q.is_cuda else SDPBackend.MATH
    with sdpa_kernel([backend]):
        return F.scaled_dot_product_attention(q, k, v, mask, scale=1.0)


def block_mask(reach: Tensor, T: int, K: int, offset: int) -> BlockMask:
    """List the blocks of keys that each head reaches; nothing of size T K is made."""
    rows = -(-T // BLOCK)
    columns = -(-K // BLOCK)
    queries = torch.arange(rows, device=reach.device) * BLOCK
    # keys that the first query of a block sees, and the last key that its last query sees
    farthest = offset + queries - reach[:, None]
    nearest = offset + queries + BLOCK - 2
    first = farthest.clamp(min=0) // BLOCK
    last = nearest.clamp(max=K - 1) // BLOCK
    count = (last - first + 1).clamp(min=0)
    following = torch.arange(columns, device=reach.device)
    index = (first[..., None] + following).clamp(max=columns - 1)

    def seen(b, h, i, j):
        x = offset + i - j
        return (x >= 1) & (x <= reach[h])

    return BlockMask.from_kv_blocks(
        count.int()[None], index.int()[None], BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(T, K)
    )


compiled_flex = torch.compile(flex_attention, dynamic=False)
compiled_dense = torch.compile(dense, dynamic=False)


def flex(q, r, k, v, position_keys, z, reach, *, ramp, attends_self, **_) -> Tensor:
    """Look the bias up by distance in compiled flex_attention."""
    bias = position_bias(r, position_keys, z, ramp)
    T, W = bias.shape[-2:]
    K = k.size(2)
    offset = K - T + int(attends_self)

    def add_bias(score, b, h, i, j):
        column = W - offset - i + j
        return score + bias[b, h, i, column.clamp(0, W - 1)]

    mask = block_mask(reach.to(q.device), T, K, offset)
    return compiled_flex(q, k, v, score_mod=add_bias, block_mask=mask, scale=1.0)


def banded(*inputs, **settings) -> Tensor:
    from models.kernels.banded import attend  # triton is not available on every machine

    return attend(*inputs, **settings)


def released(checkout: Path) -> Attend:
    """Make a candidate of the released layer (facebookresearch/adaptive-span), its span fixed.

    It has one query for content and position, so it needs r = q, and every head has reach S.
    """
    sys.path.insert(0, str(checkout))

    def attend(q, r, k, v, position_keys, z, reach, **_) -> Tensor:
        heads = q.size(1)
        width = q.size(-1)
        layer = released_layer(checkout, width, heads, position_keys.size(-1))
        # it divides by sqrt(d) itself
        unscaled = q * math.sqrt(width)
        by_head = [tensor.flatten(0, 1) for tensor in (unscaled, k, v)]
        return layer(*by_head, position_keys[None]).view_as(q)

    return attend


ON_CPU: dict[str, Attend] = {"dense": dense, "sdpa + bias": sdpa, "banded (ours)": banded}
ON_GPU = ON_CPU | {"dense, compiled": compiled_dense, "flex + bias": flex}
NOT_IN_A_GRAPH = ("flex + bias",)  # it makes its mask on the host at every call
