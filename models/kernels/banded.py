"""Banded softmax attention on a GPU: the numbers of `models/attention/formula.py` for spans that are fixed or adaptive.

    x      = K - T + t - j + attends_self        visible where 1 <= x <= reach of the head
    score  = (q_t . k_j + q_t . p_x) / sqrt(dk) + log m(x)     m(x) = clamp((R + z - (x - 1)) / R, 0, 1)
    y_t    = sum_j softmax(score) v_j            0 where a query sees no key

Tiles of keys outside a head's own reach, in the future or before the stream are never visited; nothing of size T x S is
kept, only y and the logarithm of each row's sum, from which the backward pass forms the scores anew (FlashAttention,
Dao et al. 2022). There is no dropout and no selection here.
"""

import math

import torch
import triton
from torch import Tensor

from models.kernels.banded_backward import key_gradients, position_gradients, query_gradients
from models.kernels.banded_forward import forward
from models.kernels.no_double_backward import no_double_backward

TILE = {2: 64, 4: 16, 8: 16}  # queries and keys of a tile by the bytes of a number: what a program's registers hold
WIDEST = 128  # dk and dv: beyond, a tile no longer fits
GROUPS = 32  # parts that the gradient of the position keys is added up in: enough programs to fill a GPU


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    position_keys: Tensor,
    z: Tensor | None,
    reach: Tensor,
    *,
    ramp: int | None,
    attends_self: bool,
    scale: float | None = None,
) -> Tensor:
    """q: B h T dk, k: B h K dk, v: B h K dv, of which the last T are the block's own -> B h T dv.

    position_keys: dk W, those of x = W .. 1, shared by heads; no key beyond W is seen. z: (h 1 1) in keys, with ramp R,
    or both None where m = 1 up to reach. reach: (h,) whole numbers, the keys with m > 0. scale: of the scores, None for
    1 / sqrt(dk). k, v and position_keys are converted to the type of q; 16 and 32 bits are added up in 32, 64 in 64.
    Gradients go to q, k (all K keys), v, position_keys and z, the same bits from run to run. Tensors that are not
    contiguous are copied. ValueError for heads wider than `WIDEST`.
    """
    k, v, position_keys = (tensor.to(q.dtype) for tensor in (k, v, position_keys))
    return Banded.apply(q, k, v, position_keys, z, reach, ramp, attends_self, scale)


class Banded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, position_keys, z, reach, ramp, attends_self, scale):
        (B, h, T, _), K, W = q.shape, k.size(2), position_keys.size(1)
        acc = torch.promote_types(q.dtype, torch.float32)
        q, k, v, position_keys = (tensor.contiguous() for tensor in (q, k, v, position_keys.T))
        z = None if z is None else z.to(acc).flatten()
        inputs = (q, k, v, position_keys, z, reach.clamp(max=min(K, W)).to(q.device, torch.int32))
        ctx.sizes = (h, T, K, W, K - T + attends_self, ramp)
        ctx.shapes = _shapes(q, v, scale)
        y, lse = q.new_empty(B, h, T, v.size(3)), q.new_empty(B, h, T, dtype=acc)
        forward[triton.cdiv(T, ctx.shapes["N"]), B * h](*inputs, y, lse, *ctx.sizes, **ctx.shapes)
        ctx.save_for_backward(*inputs, y, lse)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        *inputs, y, lse = ctx.saved_tensors
        q, k, v, position_keys, z, _ = inputs
        (B, h, T, dk), K, W, N = q.shape, k.size(2), position_keys.size(0), ctx.shapes["N"]
        inputs += [dy.contiguous(), lse, (dy.to(lse.dtype) * y).sum(-1)]
        tiles, groups, diagonals = triton.cdiv(T, N), min(GROUPS, B * h), triton.cdiv(W, N) + 1
        grad_q, grad_k, grad_v = (torch.empty_like(tensor) for tensor in (q, k, v))
        grad_z = None if z is None else lse.new_empty(B, h, tiles)
        parts = lse.new_empty(groups, diagonals, 2 * N, dk)
        query_gradients[tiles, B * h](*inputs, grad_q, grad_z, *ctx.sizes, **ctx.shapes)
        key_gradients[triton.cdiv(K, N), B * h](*inputs, grad_k, grad_v, *ctx.sizes, **ctx.shapes)
        position_gradients[diagonals, groups](*inputs, parts, *ctx.sizes, B * h, **ctx.shapes)
        if z is not None:
            grad_z = grad_z.sum((0, 2)).view(h, 1, 1)
        return grad_q, grad_k, grad_v, _columns(parts, W).to(q.dtype), grad_z, None, None, None, None


def _shapes(q: Tensor, v: Tensor, scale: float | None) -> dict:
    """What a kernel is compiled for and how it is started.

    Widths are padded to powers of two, and to 16 at least: tensor cores take no less.
    """
    dk, dv = q.size(-1), v.size(-1)
    if max(dk, dv) > WIDEST:
        raise ValueError(f"queries {dk} and values {dv} wide: a tile of banded attention holds {WIDEST} at most")
    padded = {"DK": max(16, triton.next_power_of_2(dk)), "DV": max(16, triton.next_power_of_2(dv))}
    N = TILE[q.element_size()]
    launch = {"num_warps": max(4, N // 8), "num_stages": 2}
    return {"dk": dk, "dv": dv, **padded, "N": N, "scale": scale or 1 / math.sqrt(dk), **launch}


def _columns(parts: Tensor, W: int) -> Tensor:
    """groups diagonals 2N dk -> dk W: a diagonal's far stretch has the distances of the next one's near stretch."""
    far, near = parts.sum(0).chunk(2, 1)
    x_falls = (far[:-1] + near[1:]).flip(0).flatten(0, 1)  # of N dk each, x = (n + 1) N .. n N + 1
    return x_falls[-W:].T
