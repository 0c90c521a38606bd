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
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    y,
    lse,
    h,
    T,
    K,
    W,
    offset,
    ramp,
    head_stride,
    seed,
    dk: tl.constexpr,
    dv: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    N: tl.constexpr,
    drop: tl.constexpr,
):
    """Write y: (B h) T dv and lse: (B h) T, the log of each row's sum; both are 0 for a row without
    a visible key.
    """
    # The type in which numbers are added up, as `_sum_type` of banded.py says.
    acc: tl.constexpr = lse.dtype.element_ty
    t0 = tl.program_id(0) * N
    # In 64 bits: the numbers of all streams together may be more than 2^31.
    bh = tl.program_id(1).to(tl.int64)
    head = bh % h
    # The rows of the streams and heads before: of queries and of keys.
    row = bh * T
    key = bh * K
    queries = rows(q + row * dk, t0, T, dk, DK, N)
    positions = rows(r + row * dk, t0, T, dk, DK, N)
    spans = row_numbers(z + row, t0, T, N) if z is not None else None
    head_reach = tl.load(reach + head)
    own_reach = farthest(head_reach, spans, ramp)
    # A stride of 0 lets all heads share one table.
    own_keys = position_keys + head * head_stride
    # Of each row so far: the largest score m, sum exp(s - m) and sum exp(s - m) v.
    highest = tl.full((N,), float("-inf"), acc)
    total = tl.zeros((N,), acc)
    sums = tl.zeros((N, DV), acc)
    # From the farthest key that the first query sees up to the nearest of the last query.
    farthest_key = offset + t0 - own_reach
    start = tl.maximum(farthest_key, 0)
    last_query = tl.minimum(t0 + N, T) - 1
    stop = offset + last_query
    for j0 in range(start, stop, N):
        first = offset + t0 - j0  # x of the tile's first query and key
        keys = rows(k + key * dk, j0, K, dk, DK, N)
        values = rows(v + key * dv, j0, K, dv, DV, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            q=queries,
            r=positions,
            k=keys,
            near=near,
            far=far,
            z=spans,
            first=first,
            j0=j0,
            reach=own_reach,
            ramp=ramp,
            acc=acc,
            N=N,
        )
        # The running maximum; sums so far are scaled to it.
        largest = tl.max(score, 1)
        higher = tl.maximum(highest, largest)
        # A row that has seen no key yet: -inf - -inf has no value.
        base = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp(score - base[:, None])
        shrink = tl.exp(highest - base)
        total = total * shrink + tl.sum(weights, 1)
        if drop > 0:
            own_seed = seed + bh  # every stream and head draws its own
            # After the sum: dropout acts on normalised weights.
            weights *= dropout_factors(own_seed, t0, j0, K, drop, acc, N)
        weighed = product(weights.to(values.dtype), values, acc)
        sums = sums * shrink[:, None] + weighed
        highest = higher
    # A query that sees no key has y = 0, not 0 / 0.
    empty = total == 0
    total = tl.where(empty, 1.0, total)
    outputs = sums / total[:, None]
    put_rows(y + row * dv, outputs, t0, T, dv, DV, N)
    log_sum = highest + tl.log(total)
    logs = tl.where(empty, 0.0, log_sum)
    t = t0 + tl.arange(0, N)
    tl.store(lse + row + t, logs, t < T)


@triton.jit(do_not_specialize=NUMBERS)
def query_gradients(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    dy,
    lse,
    delta,
    grad_q,
    grad_r,
    grad_z,
    h,
    T,
    K,
    W,
    offset,
    ramp,
    head_stride,
    seed,
    dk: tl.constexpr,
    dv: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    N: tl.constexpr,
    drop: tl.constexpr,
):
    """Write the gradients of q and r: (B h) T dk, and of z: (B h) T.

    d log m / dz = 1 / (R m) for keys with 0 < m <= 1, the derivative from the left (as
    `spans/_ramp.py`).
    """
    # The type in which numbers are added up, as `_sum_type` of banded.py says.
    acc: tl.constexpr = lse.dtype.element_ty
    t0 = tl.program_id(0) * N
    # In 64 bits: the numbers of all streams together may be more than 2^31.
    bh = tl.program_id(1).to(tl.int64)
    head = bh % h
    # The rows of the streams and heads before: of queries and of keys.
    row = bh * T
    key = bh * K
    queries = rows(q + row * dk, t0, T, dk, DK, N)
    positions = rows(r + row * dk, t0, T, dk, DK, N)
    spans = row_numbers(z + row, t0, T, N) if z is not None else None
    head_reach = tl.load(reach + head)
    own_reach = farthest(head_reach, spans, ramp)
    # A stride of 0 lets all heads share one table.
    own_keys = position_keys + head * head_stride
    dys = rows(dy + row * dv, t0, T, dv, DV, N)
    logs = row_numbers(lse + row, t0, T, N)
    deltas = row_numbers(delta + row, t0, T, N)
    dqs = tl.zeros((N, DK), acc)
    drs = tl.zeros((N, DK), acc)
    dzs = tl.zeros((N,), acc)
    # From the farthest key that the first query sees up to the nearest of the last query.
    farthest_key = offset + t0 - own_reach
    start = tl.maximum(farthest_key, 0)
    last_query = tl.minimum(t0 + N, T) - 1
    stop = offset + last_query
    for j0 in range(start, stop, N):
        first = offset + t0 - j0  # x of the tile's first query and key
        keys = rows(k + key * dk, j0, K, dk, DK, N)
        values = rows(v + key * dv, j0, K, dv, DV, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            q=queries,
            r=positions,
            k=keys,
            near=near,
            far=far,
            z=spans,
            first=first,
            j0=j0,
            reach=own_reach,
            ramp=ramp,
            acc=acc,
            N=N,
        )
        _, ds = slopes(
            score=score,
            v=values,
            dy=dys,
            lse=logs,
            delta=deltas,
            seed=seed + bh,  # every stream and head draws its own
            t0=t0,
            j0=j0,
            K=K,
            drop=drop,
            acc=acc,
            N=N,
        )
        if z is not None:
            x = distances(first, N)
            m = ramp_at(x, spans[:, None], ramp, acc)
            off_ramp = (m <= 0) | (m > 1)
            on_ramp = tl.where(off_ramp, 0.0, ds)
            # R m, and 1 where nothing may be divided by 0.
            divisor = tl.where(off_ramp, 1.0, ramp * m)
            dzs += tl.sum(on_ramp / divisor, 1)
        # dq = ds k, dr = ds p: s = q k^T + r p^T.
        dqs += product(ds.to(keys.dtype), keys, acc)
        # From key columns back to the two stretches of position keys.
        ds_near, ds_far = unskew(ds, N)
        drs += product(ds_near.to(near.dtype), near, acc)
        drs += product(ds_far.to(far.dtype), far, acc)
    put_rows(grad_q + row * dk, dqs, t0, T, dk, DK, N)
    put_rows(grad_r + row * dk, drs, t0, T, dk, DK, N)
    if z is not None:
        t = t0 + tl.arange(0, N)
        tl.store(grad_z + row + t, dzs, t < T)


@triton.jit(do_not_specialize=NUMBERS)
def key_gradients(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    dy,
    lse,
    delta,
    grad_k,
    grad_v,
    h,
    T,
    K,
    W,
    offset,
    ramp,
    head_stride,
    seed,
    dk: tl.constexpr,
    dv: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    N: tl.constexpr,
    drop: tl.constexpr,
):
    """Write the gradients of k: (B h) K dk, and of v: (B h) K dv, walking over the queries that see
    the tile.
    """
    # The type in which numbers are added up, as `_sum_type` of banded.py says.
    acc: tl.constexpr = lse.dtype.element_ty
    j0 = tl.program_id(0) * N
    # In 64 bits: the numbers of all streams together may be more than 2^31.
    bh = tl.program_id(1).to(tl.int64)
    head = bh % h
    # The rows of the streams and heads before: of queries and of keys.
    row = bh * T
    key = bh * K
    own_reach = tl.load(reach + head)
    # A stride of 0 lets all heads share one table.
    own_keys = position_keys + head * head_stride
    keys = rows(k + key * dk, j0, K, dk, DK, N)
    values = rows(v + key * dv, j0, K, dv, DV, N)
    dks = tl.zeros((N, DK), acc)
    dvs = tl.zeros((N, DV), acc)
    # From the first query that sees the first key up to the last one that sees the last key.
    first_query = j0 + 1 - offset  # of which the key is at x = 1
    start = tl.maximum(first_query, 0)
    last_key = tl.minimum(j0 + N, K) - 1
    last_query = last_key + own_reach - offset
    stop = tl.minimum(last_query + 1, T)
    for t0 in range(start, stop, N):
        first = offset + t0 - j0  # x of the tile's first query and key
        queries = rows(q + row * dk, t0, T, dk, DK, N)
        positions = rows(r + row * dk, t0, T, dk, DK, N)
        dys = rows(dy + row * dv, t0, T, dv, DV, N)
        spans = row_numbers(z + row, t0, T, N) if z is not None else None
        logs = row_numbers(lse + row, t0, T, N)
        deltas = row_numbers(delta + row, t0, T, N)
        near, far = stretches(own_keys, first, W, dk, DK, N)
        score = scores(
            q=queries,
            r=positions,
            k=keys,
            near=near,
            far=far,
            z=spans,
            first=first,
            j0=j0,
            reach=own_reach,
            ramp=ramp,
            acc=acc,
            N=N,
        )
        weights, ds = slopes(
            score=score,
            v=values,
            dy=dys,
            lse=logs,
            delta=deltas,
            seed=seed + bh,  # every stream and head draws its own
            t0=t0,
            j0=j0,
            K=K,
            drop=drop,
            acc=acc,
            N=N,
        )
        # dk = ds^T q, dv = p^T dy: keys are the rows.
        ds_by_key = tl.trans(ds.to(queries.dtype))
        dks += product(ds_by_key, queries, acc)
        weights_by_key = tl.trans(weights.to(dys.dtype))
        dvs += product(weights_by_key, dys, acc)
    put_rows(grad_k + key * dk, dks, j0, K, dk, DK, N)
    put_rows(grad_v + key * dv, dvs, j0, K, dv, DV, N)


@triton.jit(do_not_specialize=NUMBERS)
def position_gradients(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    dy,
    lse,
    delta,
    grad_position_keys,
    h,
    T,
    K,
    W,
    offset,
    ramp,
    head_stride,
    seed,
    Bh,
    dk: tl.constexpr,
    dv: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    N: tl.constexpr,
    drop: tl.constexpr,
):
    """Write the gradient of the position keys in parts: groups diagonals 2N dk.

    Diagonal n has the rows x = (n + 1) N .. (n - 1) N + 1, the far stretch before the near one.
    Query tiles start at multiples of N, so that each query meets each x on one diagonal alone. The
    number of groups is a multiple of h, so that the streams of a group are those of one head.
    """
    # The type in which numbers are added up, as `_sum_type` of banded.py says.
    acc: tl.constexpr = lse.dtype.element_ty
    n = tl.program_id(0)
    group = tl.program_id(1).to(tl.int64)
    first = n * N + 1
    # All streams of a group are of this head.
    own_keys = position_keys + group % h * head_stride
    near, far = stretches(own_keys, first, W, dk, DK, N)
    near_sum = tl.zeros((N, DK), acc)
    far_sum = tl.zeros((N, DK), acc)
    for bh in range(group, Bh, tl.num_programs(1)):
        row = bh * T
        key = bh * K
        own_reach = tl.load(reach + bh % h)
        # A head that does not see the diagonal's nearest key is passed over.
        nearest = first - N + 1
        stop = tl.where(nearest <= own_reach, T, 0)
        # Where the diagonal enters the stream, rounded down to a tile.
        start = tl.maximum(first - offset, 0) // N * N
        for t0 in range(start, stop, N):
            j0 = offset + t0 - first
            queries = rows(q + row * dk, t0, T, dk, DK, N)
            positions = rows(r + row * dk, t0, T, dk, DK, N)
            dys = rows(dy + row * dv, t0, T, dv, DV, N)
            spans = row_numbers(z + row, t0, T, N) if z is not None else None
            keys = rows(k + key * dk, j0, K, dk, DK, N)
            values = rows(v + key * dv, j0, K, dv, DV, N)
            logs = row_numbers(lse + row, t0, T, N)
            deltas = row_numbers(delta + row, t0, T, N)
            score = scores(
                q=queries,
                r=positions,
                k=keys,
                near=near,
                far=far,
                z=spans,
                first=first,
                j0=j0,
                reach=own_reach,
                ramp=ramp,
                acc=acc,
                N=N,
            )
            _, ds = slopes(
                score=score,
                v=values,
                dy=dys,
                lse=logs,
                delta=deltas,
                seed=seed + bh,  # every stream and head draws its own
                t0=t0,
                j0=j0,
                K=K,
                drop=drop,
                acc=acc,
                N=N,
            )
            ds_near, ds_far = unskew(ds, N)
            # dp = ds^T r, a row for each distance.
            by_near = tl.trans(ds_near.to(positions.dtype))
            near_sum += product(by_near, positions, acc)
            by_far = tl.trans(ds_far.to(positions.dtype))
            far_sum += product(by_far, positions, acc)
    # The far stretch of a part comes first: N rows dk wide each.
    place = group * tl.num_programs(0) + n
    part = grad_position_keys + place * 2 * N * dk
    put_rows(part, far_sum, 0, N, dk, DK, N)
    put_rows(part + N * dk, near_sum, 0, N, dk, DK, N)
