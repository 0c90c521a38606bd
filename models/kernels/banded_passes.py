"""Banded softmax attention, forward and backward: kernels over the same tiles, none with atomics.

    forward             per query tile and head: y, with a running maximum and sum
    query_gradients     per query tile and head: those of q, r and z
    key_gradients       per key tile and head:   those of k and v
    position_gradients  per diagonal of tiles:   a part of the position keys'

The running maximum and sum are those of Milakov and Gimelshein 2018 (FlashAttention, Dao et al.
2022, algorithm 1). A diagonal consists of the pairs of query and key tiles at one distance: all of
them meet the same position keys. Its heads are divided among groups.

t0 and j0 are the first query and key of a tile, bh counts streams x heads, `offset` is the place of
the first query among the keys, plus one where it sees itself.
"""

import triton
import triton.language as tl

from .banded_tiles import (
    NUMBERS,
    distances,
    dropout_factors,
    farthest,
    product,
    put_rows,
    ramp_at,
    row_numbers,
    rows,
    scores,
    slopes,
    stretches,
    unskew,
)


@triton.jit(do_not_specialize=NUMBERS)
def forward(
    q, r, k, v, position_keys, z, reach, y, lse,
    h, T, K, W, offset, ramp, head_stride, seed,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
    N: tl.constexpr, drop: tl.constexpr,
):  # fmt: skip
    """Write y: (B h) T dv and lse: (B h) T, the log of each row's sum; both are 0 for a row without
    a visible key.
    """
    acc: tl.constexpr = lse.dtype.element_ty
    t0 = tl.program_id(0) * N
    bh = tl.program_id(1).to(tl.int64)
    queries = rows(q + bh * T * dk, t0, T, dk, DK, N)
    positions = rows(r + bh * T * dk, t0, T, dk, DK, N)
    spans = row_numbers(z + bh * T, t0, T, N) if z is not None else None
    own_reach = farthest(tl.load(reach + bh % h), spans, ramp)
    own_keys = position_keys + bh % h * head_stride
    highest = tl.full((N,), float("-inf"), acc)
    total = tl.zeros((N,), acc)
    sums = tl.zeros((N, DV), acc)
    # keys from the farthest that the first query sees up to the nearest of the last
    start = tl.maximum(offset + t0 - own_reach, 0)
    stop = offset + tl.minimum(t0 + N, T) - 1
    for j0 in range(start, stop, N):
        first = offset + t0 - j0
        keys = rows(k + bh * K * dk, j0, K, dk, DK, N)
        values = rows(v + bh * K * dv, j0, K, dv, DV, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            queries, positions, keys, near, far, spans, first, j0, own_reach, ramp, acc, N
        )
        # The running maximum; sums so far are scaled to it.
        higher = tl.maximum(highest, tl.max(score, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)  # -inf - -inf has no value
        weights = tl.exp(score - base[:, None])
        shrink = tl.exp(highest - base)
        total = total * shrink + tl.sum(weights, 1)
        if drop > 0:
            weights *= dropout_factors(seed + bh, t0, j0, K, drop, acc, N)
        weighed = product(weights.to(values.dtype), values, acc)
        sums = sums * shrink[:, None] + weighed
        highest = higher
    # A query that sees no key.
    empty = total == 0
    total = tl.where(empty, 1.0, total)
    outputs = sums / total[:, None]
    put_rows(y + bh * T * dv, outputs, t0, T, dv, DV, N)
    logs = tl.where(empty, 0.0, highest + tl.log(total))
    t = t0 + tl.arange(0, N)
    tl.store(lse + bh * T + t, logs, t < T)


@triton.jit(do_not_specialize=NUMBERS)
def query_gradients(
    q, r, k, v, position_keys, z, reach, dy, lse, delta, grad_q, grad_r, grad_z,
    h, T, K, W, offset, ramp, head_stride, seed,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
    N: tl.constexpr, drop: tl.constexpr,
):  # fmt: skip
    """Write the gradients of q and r: (B h) T dk, and of z: (B h) T.

    d log m / dz = 1 / (R m) for keys with 0 < m <= 1, the derivative from the left (as
    `spans/_ramp.py`).
    """
    acc: tl.constexpr = lse.dtype.element_ty
    t0 = tl.program_id(0) * N
    bh = tl.program_id(1).to(tl.int64)
    queries = rows(q + bh * T * dk, t0, T, dk, DK, N)
    positions = rows(r + bh * T * dk, t0, T, dk, DK, N)
    spans = row_numbers(z + bh * T, t0, T, N) if z is not None else None
    own_reach = farthest(tl.load(reach + bh % h), spans, ramp)
    own_keys = position_keys + bh % h * head_stride
    dys = rows(dy + bh * T * dv, t0, T, dv, DV, N)
    logs = row_numbers(lse + bh * T, t0, T, N)
    deltas = row_numbers(delta + bh * T, t0, T, N)
    dqs = tl.zeros((N, DK), acc)
    drs = tl.zeros((N, DK), acc)
    dzs = tl.zeros((N,), acc)
    # keys from the farthest that the first query sees up to the nearest of the last
    start = tl.maximum(offset + t0 - own_reach, 0)
    stop = offset + tl.minimum(t0 + N, T) - 1
    for j0 in range(start, stop, N):
        first = offset + t0 - j0
        keys = rows(k + bh * K * dk, j0, K, dk, DK, N)
        values = rows(v + bh * K * dv, j0, K, dv, DV, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            queries, positions, keys, near, far, spans, first, j0, own_reach, ramp, acc, N
        )
        _, ds = slopes(score, values, dys, logs, deltas, seed + bh, t0, j0, K, drop, acc, N)
        if z is not None:
            m = ramp_at(distances(first, N), spans[:, None], ramp, acc)
            off_ramp = (m <= 0) | (m > 1)
            on_ramp = tl.where(off_ramp, 0.0, ds)
            dzs += tl.sum(on_ramp / tl.where(off_ramp, 1.0, ramp * m), 1)
        dqs += product(ds.to(keys.dtype), keys, acc)
        # From key columns back to the two stretches of position keys.
        ds_near, ds_far = unskew(ds, N)
        drs += product(ds_near.to(near.dtype), near, acc)
        drs += product(ds_far.to(far.dtype), far, acc)
    put_rows(grad_q + bh * T * dk, dqs, t0, T, dk, DK, N)
    put_rows(grad_r + bh * T * dk, drs, t0, T, dk, DK, N)
    if z is not None:
        t = t0 + tl.arange(0, N)
        tl.store(grad_z + bh * T + t, dzs, t < T)


@triton.jit(do_not_specialize=NUMBERS)
def key_gradients(
    q, r, k, v, position_keys, z, reach, dy, lse, delta, grad_k, grad_v,
    h, T, K, W, offset, ramp, head_stride, seed,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
    N: tl.constexpr, drop: tl.constexpr,
):  # fmt: skip
    """Write the gradients of k: (B h) K dk, and of v: (B h) K dv, walking over the queries that see
    the tile.
    """
    acc: tl.constexpr = lse.dtype.element_ty
    j0 = tl.program_id(0) * N
    bh = tl.program_id(1).to(tl.int64)
    own_reach = tl.load(reach + bh % h)
    own_keys = position_keys + bh % h * head_stride
    keys = rows(k + bh * K * dk, j0, K, dk, DK, N)
    values = rows(v + bh * K * dv, j0, K, dv, DV, N)
    dks = tl.zeros((N, DK), acc)
    dvs = tl.zeros((N, DV), acc)
    # queries from the first that sees the first key up to the last that sees the last key
    last = tl.minimum(j0 + N, K) - 1
    start = tl.maximum(j0 + 1 - offset, 0)
    stop = tl.minimum(last + own_reach - offset + 1, T)
    for t0 in range(start, stop, N):
        first = offset + t0 - j0
        queries = rows(q + bh * T * dk, t0, T, dk, DK, N)
        positions = rows(r + bh * T * dk, t0, T, dk, DK, N)
        dys = rows(dy + bh * T * dv, t0, T, dv, DV, N)
        spans = row_numbers(z + bh * T, t0, T, N) if z is not None else None
        logs = row_numbers(lse + bh * T, t0, T, N)
        deltas = row_numbers(delta + bh * T, t0, T, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            queries, positions, keys, near, far, spans, first, j0, own_reach, ramp, acc, N
        )
        weights, ds = slopes(score, values, dys, logs, deltas, seed + bh, t0, j0, K, drop, acc, N)
        # Transposed: keys are the rows.
        dks += product(tl.trans(ds.to(queries.dtype)), queries, acc)
        dvs += product(tl.trans(weights.to(dys.dtype)), dys, acc)
    put_rows(grad_k + bh * K * dk, dks, j0, K, dk, DK, N)
    put_rows(grad_v + bh * K * dv, dvs, j0, K, dv, DV, N)


@triton.jit(do_not_specialize=NUMBERS)
def position_gradients(
    q, r, k, v, position_keys, z, reach, dy, lse, delta, grad_position_keys,
    h, T, K, W, offset, ramp, head_stride, seed, Bh,
    dk: tl.constexpr, dv: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
    N: tl.constexpr, drop: tl.constexpr,
):  # fmt: skip
    """Write the gradient of the position keys in parts: groups diagonals 2N dk.

    Diagonal n has the rows x = (n + 1) N .. (n - 1) N + 1, the far stretch before the near one.
    Query tiles start at multiples of N, so that each query meets each x on one diagonal alone. The
    number of groups is a multiple of h, so that the streams of a group are those of one head.
    """
    acc: tl.constexpr = lse.dtype.element_ty
    n = tl.program_id(0)
    group = tl.program_id(1).to(tl.int64)
    first = n * N + 1
    own_keys = position_keys + group % h * head_stride
    near, far = stretches(own_keys, first, W, dk, DK, N)
    near_sum = tl.zeros((N, DK), acc)
    far_sum = tl.zeros((N, DK), acc)
    for bh in range(group, Bh, tl.num_programs(1)):
        own_reach = tl.load(reach + bh % h)
        # a head that does not see this far is passed over
        stop = tl.where(first - N + 1 <= own_reach, T, 0)
        start = tl.maximum(first - offset, 0) // N * N
        for t0 in range(start, stop, N):
            j0 = offset + t0 - first
            queries = rows(q + bh * T * dk, t0, T, dk, DK, N)
            positions = rows(r + bh * T * dk, t0, T, dk, DK, N)
            dys = rows(dy + bh * T * dv, t0, T, dv, DV, N)
            spans = row_numbers(z + bh * T, t0, T, N) if z is not None else None
            keys = rows(k + bh * K * dk, j0, K, dk, DK, N)
            values = rows(v + bh * K * dv, j0, K, dv, DV, N)
            logs = row_numbers(lse + bh * T, t0, T, N)
            deltas = row_numbers(delta + bh * T, t0, T, N)
            score = scores(
                queries, positions, keys, near, far, spans, first, j0, own_reach, ramp, acc, N
            )
            _, ds = slopes(score, values, dys, logs, deltas, seed + bh, t0, j0, K, drop, acc, N)
            ds_near, ds_far = unskew(ds, N)
            near_sum += product(tl.trans(ds_near.to(positions.dtype)), positions, acc)
            far_sum += product(tl.trans(ds_far.to(positions.dtype)), positions, acc)
    place = group * tl.num_programs(0) + n
    part = grad_position_keys + place * 2 * N * dk
    put_rows(part, far_sum, 0, N, dk, DK, N)
    put_rows(part + N * dk, near_sum, 0, N, dk, DK, N)
