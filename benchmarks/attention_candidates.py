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
    W = position_keys.size(-1)
    distances = torch.arange(W, 0, -1, device=r.device)
    log_m = log_ramp(distances, z, ramp)
    return scores + log_m.to(scores.dtype)


def by_key(bias: Tensor, reach: Tensor, K: int, attends_self: bool) -> Tensor:
    """Put columns by distance below the keys that they are of: B h T K, -inf for unseen keys."""
    B, h, T, W = bias.shape
    queries = torch.arange(K - T, K, device=bias.device)[:, None]
    keys = torch.arange(K, device=bias.device)
    x = queries - keys + int(attends_self)  # T K
    # h 1 1; there is no position beyond W.
    farthest = reach.to(x.device).view(-1, 1, 1)
    farthest = farthest.clamp(max=W)
    seen = (x >= 1) & (x <= farthest)
    # The column of a distance; those of unseen keys are any, and masked.
    columns = (W - x).clamp(0, W - 1)
    scores = bias.gather(-1, columns.expand(B, h, T, -1))
    return scores.masked_fill(~seen, -math.inf)


def dense(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    *,
    ramp,
    attends_self,
    **_,
) -> Tensor:
    """Score every key, and leave out what no head sees."""
    K = k.size(2)
    by_distance = position_bias(r, position_keys, z, ramp)
    bias = by_key(by_distance, reach, K, attends_self)
    scores = q @ k.transpose(-1, -2) + bias
    # The softmax of a query that sees no key is NaN, and so are its gradients.
    empty = bias.isneginf().all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1)
    return weights.masked_fill(empty, 0.0) @ v


def sdpa(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    *,
    ramp,
    attends_self,
    **_,
) -> Tensor:
    """Give the bias to torch's memory-efficient kernel as a mask."""
    K = k.size(2)
    bias = position_bias(r, position_keys, z, ramp)
    mask = by_key(bias, reach, K, attends_self)
    padding = -K % ALIGNED
    if padding:
        # A view of K columns whose rows begin at a multiple of `ALIGNED`.
        padded = F.pad(mask, (0, padding))
        mask = padded[..., :K]
    backend = SDPBackend.EFFICIENT_ATTENTION if q.is_cuda else SDPBackend.MATH
    with sdpa_kernel([backend]):
        # Queries are over sqrt(d) already.
        return F.scaled_dot_product_attention(q, k, v, mask, scale=1.0)


def block_mask(reach: Tensor, T: int, K: int, offset: int) -> BlockMask:
    """List the blocks of keys that each head reaches; nothing of size T K is made."""
    # Rounded up: the last block may not be full.
    rows = math.ceil(T / BLOCK)
    columns = math.ceil(K / BLOCK)
    queries = torch.arange(rows, device=reach.device) * BLOCK  # the first of each block
    # The farthest key that the first query of a block sees, and the last that its last query sees.
    farthest = offset + queries - reach[:, None]  # h rows
    nearest = offset + queries + BLOCK - 2
    first = farthest.clamp(min=0) // BLOCK
    last = nearest.clamp(max=K - 1) // BLOCK
    count = (last - first + 1).clamp(min=0)
    # Of each row the blocks from its first on; those behind the last are not counted.
    following = torch.arange(columns, device=reach.device)
    index = first[..., None] + following
    index = index.clamp(max=columns - 1)

    def seen(b, h, i, j):
        x = offset + i - j
        return (x >= 1) & (x <= reach[h])

    return BlockMask.from_kv_blocks(
        count.int()[None],
        index.int()[None],
        BLOCK_SIZE=BLOCK,
        mask_mod=seen,
        seq_lengths=(T, K),
    )


compiled_flex = torch.compile(flex_attention, dynamic=False)
compiled_dense = torch.compile(dense, dynamic=False)


def flex(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    *,
    ramp,
    attends_self,
    **_,
) -> Tensor:
    """Look the bias up by distance in compiled flex_attention."""
    bias = position_bias(r, position_keys, z, ramp)
    _, _, T, W = bias.shape
    K = k.size(2)
    # x of query 0 and key 0.
    offset = K - T + int(attends_self)

    def add_bias(score, b, h, i, j):
        x = offset + i - j
        # Unseen keys get the bias of any column: the mask hides them.
        column = (W - x).clamp(0, W - 1)
        return score + bias[b, h, i, column]

    mask = block_mask(reach.to(q.device), T, K, offset)
    return compiled_flex(
        q,
        k,
        v,
        score_mod=add_bias,
        block_mask=mask,
        scale=1.0,
    )


def banded(*inputs, **settings) -> Tensor:
    from models.kernels.banded import attend  # triton is not available on every machine

    return attend(*inputs, **settings)


def released(checkout: Path) -> Attend:
    """Make a candidate of the released layer (facebookresearch/adaptive-span), its span fixed.

    It has one query for content and position, so it needs r = q, and every head has reach S.
    """
    sys.path.insert(0, str(checkout))

    def attend(q, r, k, v, position_keys, z, reach, **_) -> Tensor:
        _, heads, _, width = q.shape
        S = position_keys.size(-1)
        layer = released_layer(checkout, width, heads, S)
        # It divides by sqrt(d) itself, and counts streams and heads together.
        unscaled = q * math.sqrt(width)
        y = layer(
            unscaled.flatten(0, 1),
            k.flatten(0, 1),
            v.flatten(0, 1),
            position_keys[None],
        )
        return y.view_as(q)

    return attend


ON_CPU: dict[str, Attend] = {"dense": dense, "sdpa + bias": sdpa, "banded (ours)": banded}
ON_GPU = ON_CPU | {"dense, compiled": compiled_dense, "flex + bias": flex}
NOT_IN_A_GRAPH = ("flex + bias",)  # it makes its mask on the host at every call
