"""Banded softmax attention, forward: a program per query tile and head of a stream, which walks over its keys.

    score = q_t . k_j + r_t . p_x + log m(x)     y_t = sum_j dropout(softmax(score)) v_j

The softmax is taken as it goes, with a running maximum and sum (Milakov and Gimelshein 2018; FlashAttention, Dao et al.
2022, algorithm 1).
"""

import triton
import triton.language as tl

from models.kernels.banded_tiles import (
    NUMBERS,
    dropout_factors,
    farthest,
    product,
    put_rows,
    row_numbers,
    rows,
    scores,
    stretches,
)


@triton.jit(do_not_specialize=NUMBERS)
def forward(
    q, r, k, v, position_keys, z, reach, y, lse,
    h, T, K, W, offset, ramp, head_stride, seed,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, N: tl.constexpr, drop: tl.constexpr,
):  # fmt: skip
    """Writes y: (B h) T dv and lse: (B h) T, the log of each row's sum; both are 0 for a row without a visible key."""
    acc: tl.constexpr = lse.dtype.element_ty
    t0, bh = tl.program_id(0) * N, tl.program_id(1).to(tl.int64)
    queries, positions = rows(q + bh * T * dk, t0, T, dk, DK, N), rows(r + bh * T * dk, t0, T, dk, DK, N)
    spans = row_numbers(z + bh * T, t0, T, N) if z is not None else None
    own_reach, own_keys = farthest(tl.load(reach + bh % h), spans, ramp), position_keys + bh % h * head_stride
    highest = tl.full((N,), float("-inf"), acc)
    total, sums = tl.zeros((N,), acc), tl.zeros((N, DV), acc)
    for j0 in range(tl.maximum(offset + t0 - own_reach, 0), offset + tl.minimum(t0 + N, T) - 1, N):
        first = offset + t0 - j0
        keys, values = rows(k + bh * K * dk, j0, K, dk, DK, N), rows(v + bh * K * dv, j0, K, dv, DV, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(queries, positions, keys, near, far, spans, first, j0, own_reach, ramp, acc, N)
        higher = tl.maximum(highest, tl.max(score, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)  # -inf - -inf has no value
        weights, shrink = tl.exp(score - base[:, None]), tl.exp(highest - base)
        total = total * shrink + tl.sum(weights, 1)
        if drop > 0:
            weights *= dropout_factors(seed + bh, t0, j0, K, drop, acc, N)
        sums = sums * shrink[:, None] + product(weights.to(values.dtype), values, acc)
        highest = higher
    empty = total == 0
    total = tl.where(empty, 1.0, total)
    put_rows(y + bh * T * dv, sums / total[:, None], t0, T, dv, DV, N)
    t = t0 + tl.arange(0, N)
    tl.store(lse + bh * T + t, tl.where(empty, 0.0, highest + tl.log(total)), t < T)
