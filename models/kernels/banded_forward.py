"""Banded softmax attention, forward: a program per query tile and head of a stream, which walks over its keys.

    score = (q_t . k_j + q_t . p_x) / sqrt(dk) + log m(x)     y_t = sum_j softmax(score) v_j

The softmax is taken as it goes, with a running maximum and sum (Milakov and Gimelshein 2018; FlashAttention, Dao et al.
2022, algorithm 1).
"""

import triton
import triton.language as tl

from models.kernels.banded_tiles import NUMBERS, product, put_rows, rows, scores, stretches


@triton.jit(do_not_specialize=NUMBERS)
def forward(
    q, k, v, position_keys, z, reach, y, lse, h, T, K, W, offset, ramp,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, N: tl.constexpr, scale: tl.constexpr,
):  # fmt: skip
    """Writes y: (B h) T dv and lse: (B h) T, the log of each row's sum; both are 0 for a row without a visible key."""
    acc: tl.constexpr = lse.dtype.element_ty
    t0, bh = tl.program_id(0) * N, tl.program_id(1).to(tl.int64)
    own_reach = tl.load(reach + bh % h)
    own_z = tl.load(z + bh % h) if z is not None else None
    queries = rows(q + bh * T * dk, t0, T, dk, DK, N)
    highest = tl.full((N,), float("-inf"), acc)
    total, sums = tl.zeros((N,), acc), tl.zeros((N, DV), acc)
    for j0 in range(tl.maximum(offset + t0 - own_reach, 0), offset + tl.minimum(t0 + N, T) - 1, N):
        first = offset + t0 - j0
        keys, values = rows(k + bh * K * dk, j0, K, dk, DK, N), rows(v + bh * K * dv, j0, K, dv, DV, N)
        near, far = stretches(position_keys, first, W, dk, DK, N)
        score = scores(queries, keys, near, far, own_z, first, j0, own_reach, ramp, scale, acc, N)
        higher = tl.maximum(highest, tl.max(score, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)  # -inf - -inf has no value
        weights, shrink = tl.exp(score - base[:, None]), tl.exp(highest - base)
        total = total * shrink + tl.sum(weights, 1)
        sums = sums * shrink[:, None] + product(weights.to(values.dtype), values, acc)
        highest = higher
    empty = total == 0
    total = tl.where(empty, 1.0, total)
    put_rows(y + bh * T * dv, sums / total[:, None], t0, T, dv, DV, N)
    t = t0 + tl.arange(0, N)
    tl.store(lse + bh * T + t, tl.where(empty, 0.0, highest + tl.log(total)), t < T)
