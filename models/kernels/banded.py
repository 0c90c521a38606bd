"""Banded softmax attention on a GPU: the numbers of `models/attention/formula.py` for every span
and smooth positions.

    x      = K - T + t - j + attends_self        visible where 1 <= x <= reach of the head
    score  = q_t . k_j + r_t . p_x + log m(x)    m(x) = clamp((R + z_t - (x - 1)) / R, 0, 1)
    y_t    = sum_j dropout(softmax(score)) v_j   0 where a query sees no key

Tiles of keys outside a head's own reach, in the future or before the stream are never visited;
nothing of size T x S is kept, only y and the logarithm of each row's sum, from which the backward
pass forms the scores anew (FlashAttention, Dao et al. 2022). Dropout is drawn anew too, from the
seed. There is no selection here.
"""

import torch
import triton
from torch import Tensor

from . import tuning
from .banded_passes import forward, key_gradients, position_gradients, query_gradients
from .no_double_backward import no_double_backward
from .tuning import Tile

WIDEST = 128  # dk and dv: beyond, a tile no longer fits
# parts that the gradient of the position keys is added up in: enough programs to fill a GPU
GROUPS = 32


def attend(
    q: Tensor,
    r: Tensor,
    k: Tensor,
    v: Tensor,
    position_keys: Tensor,
    z: Tensor | None,
    reach: Tensor,
    *,
    ramp: int | None,
    attends_self: bool,
    drop: float = 0.0,
    seed: int = 0,
    tile: Tile | None = None,
) -> Tensor:
    """Attend with a block of T queries -> B h T dv.

    q, r: B h T dk, content and position queries, over sqrt(dk). k: B h K dk, v: B h K dv, the last
    T the block's own. position_keys: of x = W .. 1, dk W, shared by heads, or h dk W; no key beyond
    W is seen. z: in keys, h 1 1, or B h T 1 for a span of each query, with ramp R; both None where
    m = 1 up to reach. reach: (h,) whole numbers, the keys with m > 0. drop: dropout on the weights,
    drawn from `seed`. tile: None for the fastest.

    r, k, v and position_keys are converted to the type of q; 16 and 32 bits are added up in 32, 64
    in 64. Gradients go to q, r, k (all K keys), v, position_keys and z, with one tile the same bits
    from run to run. Tensors that are not contiguous are copied. ValueError for heads wider than
    `WIDEST`, and for shapes that do not fit.
    """
    _check_fit(q, r, k, v, position_keys, reach)
    dk = q.size(-1)
    dv = v.size(-1)
    if max(dk, dv) > WIDEST:
        raise ValueError(
            f"queries {dk} and values {dv} wide: a tile of banded attention holds {WIDEST} at most"
        )
    if z is not None:
        z = z.to(_sum_type(q)).expand(*q.shape[:3], 1)
    return Banded.apply(
        q,
        r.to(q.dtype),
        k.to(q.dtype),
        v.to(q.dtype),
        position_keys.to(q.dtype),
        z,
        reach,
        ramp,
        attends_self,
        drop,
        seed,
        tile,
        torch.is_grad_enabled(),
    )


def _sum_type(q: Tensor) -> torch.dtype:
    """Return the type that numbers are added up in: 16 and 32 bits in 32, 64 in 64."""
    return torch.promote_types(q.dtype, torch.float32)


def _check_fit(
    q: Tensor,
    r: Tensor,
    k: Tensor,
    v: Tensor,
    position_keys: Tensor,
    reach: Tensor,
) -> None:
    """Raise ValueError for shapes with which the kernels would read beyond the memory.

    They do not know where it ends.
    """
    B, h, T, dk = q.shape
    K = k.size(2)
    dv = v.size(-1)
    W = position_keys.size(-1)
    heads = (h,) if position_keys.dim() == 3 else ()
    expected = {
        "r": (r, (B, h, T, dk)),
        "k": (k, (B, h, K, dk)),
        "v": (v, (B, h, K, dv)),
        "reach": (reach, (h,)),
        "position_keys": (position_keys, (*heads, dk, W)),
    }
    for name, (given, shape) in expected.items():
        if given.shape != shape:
            raise ValueError(
                f"{name} must be {shape} for queries {tuple(q.shape)}, got {tuple(given.shape)}"
            )


class Banded(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        q,
        r,
        k,
        v,
        position_keys,
        z,
        reach,
        ramp,
        attends_self,
        drop,
        seed,
        tile,
        backward,
    ):
        _, h, T, dk = q.shape
        K = k.size(2)
        W = position_keys.size(-1)
        # No key beyond W has a position, and there are K: kernels walk no farther.
        by_head = reach.clamp(max=min(K, W))
        inputs = (
            q.contiguous(),
            r.contiguous(),
            k.contiguous(),
            v.contiguous(),
            position_keys.mT.contiguous(),
            None if z is None else z.contiguous(),
            by_head.to(q.device, torch.int32),
        )
        # x of query 0 and key 0.
        offset = K - T + attends_self
        # Heads that share position keys read them at the same place.
        is_by_head = position_keys.dim() == 3
        head_stride = W * dk if is_by_head else 0
        ctx.sizes = (h, T, K, W, offset, ramp, head_stride, seed)
        ctx.tile = tile or _fastest(inputs, ctx.sizes, drop, backward)
        ctx.drop = drop
        y, lse = _forward(inputs, ctx.sizes, drop, ctx.tile)
        ctx.save_for_backward(*inputs, y, lse)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        *inputs, y, lse = ctx.saved_tensors
        gradients = _backward(inputs, y, lse, dy, ctx.sizes, ctx.drop, ctx.tile)
        # Of reach and the six settings after it there are none.
        return *gradients, *7 * [None]


def _forward(inputs, sizes: tuple, drop: float, tile: Tile) -> tuple[Tensor, Tensor]:
    """Compute y, and the logarithm of each row's sum."""
    q, _, _, v, *_ = inputs
    B, h, T, _ = q.shape
    dv = v.size(3)
    y = q.new_empty(B, h, T, dv)
    lse = q.new_empty(B, h, T, dtype=_sum_type(q))
    settings = {**_shapes(q, v, tile), "drop": drop}
    # A program for each tile of queries, and for each stream and head.
    query_tiles = (triton.cdiv(T, tile.N), B * h)
    forward[query_tiles](*inputs, y, lse, *sizes, **settings)
    return y, lse


def _backward(
    inputs,
    y: Tensor,
    lse: Tensor,
    dy: Tensor,
    sizes: tuple,
    drop: float,
    tile: Tile,
) -> tuple:
    """Compute the gradients of q, r, k, v, position_keys and z."""
    q, r, k, v, position_keys, z, _ = inputs
    B, h, T, dk = q.shape
    W = position_keys.size(-2)
    N = tile.N
    # sum_j p dy . v_j of each row (FlashAttention, Dao et al. 2022, section B.2)
    delta = (dy.to(lse.dtype) * y).sum(-1)
    inputs = (*inputs, dy.contiguous(), lse, delta)
    settings = {**_shapes(q, v, tile), "drop": drop}

    grad_q = torch.empty_like(q)
    grad_r = torch.empty_like(r)
    grad_z = None if z is None else torch.empty_like(z)
    query_tiles = (triton.cdiv(T, N), B * h)
    query_gradients[query_tiles](*inputs, grad_q, grad_r, grad_z, *sizes, **settings)

    grad_k = torch.empty_like(k)
    grad_v = torch.empty_like(v)
    key_tiles = (triton.cdiv(k.size(2), N), B * h)
    key_gradients[key_tiles](*inputs, grad_k, grad_v, *sizes, **settings)

    # As many groups of streams for each head as fill the GPU.
    groups_of_head = min(B, max(1, GROUPS // h))
    groups = h * groups_of_head
    # Pairs of tiles that meet the same position keys, from the nearest to those at x = W.
    diagonals = triton.cdiv(W, N) + 1
    parts = lse.new_empty(groups, diagonals, 2 * N, dk)
    position_gradients[diagonals, groups](*inputs, parts, *sizes, B * h, **settings)
    # Groups of one head are added up: h diagonals 2N dk.
    parts = parts.unflatten(0, (-1, h)).sum(0)
    if position_keys.dim() == 2:  # shared by heads
        parts = parts.sum(0)
    grad_position_keys = _columns(parts, W).to(q.dtype)
    return grad_q, grad_r, grad_k, grad_v, grad_position_keys, grad_z


def _fastest(inputs, sizes: tuple, drop: float, backward: bool) -> Tile:
    """Find the tile in which this work takes the least time.

    Lengths count up to the next power of two.
    """
    q, _, _, v, position_keys, *_ = inputs
    # In the interpreter nothing is timed.
    if q.device.type != "cuda":
        return tuning.TILES[q.element_size()][0]

    def run(tile: Tile) -> None:
        y, lse = _forward(inputs, sizes, drop, tile)
        if backward:
            # y in place of dy: any numbers take as long.
            _backward(inputs, y, lse, y, sizes, drop, tile)

    T = triton.next_power_of_2(q.size(2))
    W = triton.next_power_of_2(position_keys.size(-2))
    kind = str(q.dtype).removeprefix("torch.")
    direction = "backward" if backward else "forward"
    widths = f"dk {q.size(-1)}, dv {v.size(-1)}"
    work = f"cuda {kind}: {widths}, reach <= {W}, T <= {T}, {direction}"
    return tuning.fastest(work, q.dtype, run)


def _shapes(q: Tensor, v: Tensor, tile: Tile) -> dict:
    """Say what a kernel is compiled for and how it is started.

    Widths are padded to powers of two, and to 16 at least: tensor cores take no less.
    """
    dk = q.size(-1)
    dv = v.size(-1)
    return {
        "dk": dk,
        "dv": dv,
        "DK": max(16, triton.next_power_of_2(dk)),
        "DV": max(16, triton.next_power_of_2(dv)),
        "N": tile.N,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }


def _columns(parts: Tensor, W: int) -> Tensor:
    """Add up .. diagonals 2N dk to .. dk W.

    A diagonal's far stretch has the distances of the next one's near.
    """
    far, near = parts.chunk(2, -2)
    # x = (n + 1) N .. n N + 1 of diagonal n
    by_diagonal = far[..., :-1, :, :] + near[..., 1:, :, :]
    from_farthest = by_diagonal.flip(-3)
    falling = from_farthest.flatten(-3, -2)  # rows x from the farthest to 1
    # Diagonals cover whole tiles: rows beyond W are of no position key.
    return falling[..., -W:, :].mT
