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
    T the block's own.
    position_keys: of x = W .. 1, dk W, shared by heads, or h dk W; no key beyond W is seen. z: in
    keys, h 1 1, or B h T 1 for a span of each query, with ramp R; both None where m = 1 up to
    reach. reach: (h,) whole numbers, the keys with m > 0. drop: dropout on the weights, drawn from
    `seed`. tile: None for the fastest.

    r, k, v and position_keys are converted to the type of q; 16 and 32 bits are added up in 32, 64
    in 64. Gradients go to q, r, k (all K keys), v, position_keys and z, with one tile the same bits
    from run to run. Tensors that are not contiguous are copied. ValueError for heads wider than
    `WIDEST`, and for shapes that do not fit.
    """
    _check_fit(q, r, k, v, position_keys, reach)
    if max(q.size(-1), v.size(-1)) > WIDEST:
        widths = f"queries {q.size(-1)} and values {v.size(-1)} wide"
        raise ValueError(f"{widths}: a tile of banded attention holds {WIDEST} at most")
    r, k, v, position_keys = (tensor.to(q.dtype) for tensor in (r, k, v, position_keys))
    if z is not None:
        z = z.to(torch.promote_types(q.dtype, torch.float32)).expand(*q.shape[:3], 1)
    backward = torch.is_grad_enabled()
    return Banded.apply(
        q, r, k, v, position_keys, z, reach, ramp, attends_self, drop, seed, tile, backward
    )


def _check_fit(
    q: Tensor, r: Tensor, k: Tensor, v: Tensor, position_keys: Tensor, reach: Tensor
) -> None:
    """Raise ValueError for shapes with which the kernels, which know no ends of memory, would read
    beyond theirs.
    """
    (B, h, T, dk), K, by_head = q.shape, k.size(2), position_keys.dim() == 3
    valid = {"r": (B, h, T, dk), "k": (B, h, K, dk), "v": (B, h, K, v.size(-1)), "reach": (h,)}
    valid["position_keys"] = (*((h,) if by_head else ()), dk, position_keys.size(-1))
    given = {"r": r, "k": k, "v": v, "reach": reach, "position_keys": position_keys}
    for name, shape in valid.items():
        if given[name].shape != shape:
            raise ValueError(
                f"{name} must be {shape} for queries {tuple(q.shape)}, got {tuple(given[name].shape)}"
            )


class Banded(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx, q, r, k, v, position_keys, z, reach, ramp, attends_self, drop, seed, tile, backward
    ):
        (_, h, T, dk), K, W = q.shape, k.size(2), position_keys.size(-1)
        by_head = position_keys.dim() == 3
        q, r, k, v, position_keys = (
            tensor.contiguous() for tensor in (q, r, k, v, position_keys.mT)
        )
        z = None if z is None else z.contiguous()
        inputs = (
            q,
            r,
            k,
            v,
            position_keys,
            z,
            reach.clamp(max=min(K, W)).to(q.device, torch.int32),
        )
        ctx.sizes = (h, T, K, W, K - T + attends_self, ramp, W * dk if by_head else 0, seed)
        ctx.tile, ctx.drop = tile or _fastest(inputs, ctx.sizes, drop, backward), drop
        y, lse = _forward(inputs, ctx.sizes, drop, ctx.tile)
        ctx.save_for_backward(*inputs, y, lse)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        *inputs, y, lse = ctx.saved_tensors
        return *_backward(inputs, y, lse, dy, ctx.sizes, ctx.drop, ctx.tile), *7 * [None]


def _forward(inputs, sizes: tuple, drop: float, tile: Tile) -> tuple[Tensor, Tensor]:
    """Compute y, and the logarithm of each row's sum."""
    q, v = inputs[0], inputs[3]
    B, h, T, _ = q.shape
    y = q.new_empty(B, h, T, v.size(3))
    lse = q.new_empty(B, h, T, dtype=torch.promote_types(q.dtype, torch.float32))
    forward[triton.cdiv(T, tile.N), B * h](
        *inputs, y, lse, *sizes, **_shapes(q, v, tile), drop=drop
    )
    return y, lse


def _backward(
    inputs, y: Tensor, lse: Tensor, dy: Tensor, sizes: tuple, drop: float, tile: Tile
) -> tuple:
    """Compute the gradients of q, r, k, v, position_keys and z."""
    q, r, k, v, position_keys, z, _ = inputs
    (B, h, T, dk), K, W, N = q.shape, k.size(2), position_keys.size(-2), tile.N
    inputs = (*inputs, dy.contiguous(), lse, (dy.to(lse.dtype) * y).sum(-1))
    settings = {**_shapes(q, v, tile), "drop": drop}
    tiles, groups, diagonals = (
        triton.cdiv(T, N),
        h * min(B, max(1, GROUPS // h)),
        triton.cdiv(W, N) + 1,
    )
    grad_q, grad_r, grad_k, grad_v = (torch.empty_like(tensor) for tensor in (q, r, k, v))
    grad_z = None if z is None else torch.empty_like(z)
    parts = lse.new_empty(groups, diagonals, 2 * N, dk)
    query_gradients[tiles, B * h](*inputs, grad_q, grad_r, grad_z, *sizes, **settings)
    key_gradients[triton.cdiv(K, N), B * h](*inputs, grad_k, grad_v, *sizes, **settings)
    position_gradients[diagonals, groups](*inputs, parts, *sizes, B * h, **settings)
    parts = parts.unflatten(0, (-1, h)).sum(0)
    grad_position_keys = _columns(parts if position_keys.dim() == 3 else parts.sum(0), W).to(
        q.dtype
    )
    return grad_q, grad_r, grad_k, grad_v, grad_position_keys, grad_z


def _fastest(inputs, sizes: tuple, drop: float, backward: bool) -> Tile:
    """Find the tile in which this work takes the least time; lengths count up to the next power of
    two.
    """
    q, v, W = inputs[0], inputs[3], inputs[4].size(-2)
    if q.device.type != "cuda":
        return tuning.TILES[q.element_size()][0]

    def run(tile: Tile) -> None:
        y, lse = _forward(inputs, sizes, drop, tile)
        if backward:
            _backward(inputs, y, lse, y, sizes, drop, tile)

    T, W = map(triton.next_power_of_2, (q.size(2), W))
    kind, direction = str(q.dtype).removeprefix("torch."), "backward" if backward else "forward"
    widths = f"dk {q.size(-1)}, dv {v.size(-1)}"
    return tuning.fastest(
        f"cuda {kind}: {widths}, reach <= {W}, T <= {T}, {direction}", q.dtype, run
    )


def _shapes(q: Tensor, v: Tensor, tile: Tile) -> dict:
    """Say what a kernel is compiled for and how it is started.

    Widths are padded to powers of two, and to 16 at least: tensor cores take no less.
    """
    dk, dv = q.size(-1), v.size(-1)
    padded = {"DK": max(16, triton.next_power_of_2(dk)), "DV": max(16, triton.next_power_of_2(dv))}
    return {
        "dk": dk,
        "dv": dv,
        **padded,
        "N": tile.N,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }


def _columns(parts: Tensor, W: int) -> Tensor:
    """Add up .. diagonals 2N dk to .. dk W: a diagonal's far stretch has the distances of the next
    one's near.
    """
    far, near = parts.chunk(2, -2)
    # x = (n + 1) N .. n N + 1
    x_falls = (far[..., :-1, :, :] + near[..., 1:, :, :]).flip(-3).flatten(-3, -2)
    return x_falls[..., -W:, :].mT
