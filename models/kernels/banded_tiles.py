"""What the kernels of banded attention share: the tile of scores, and the gradients of a tile.

A tile holds N queries t = t0 .. t0 + N - 1 against N keys j = j0 .. j0 + N - 1, N a power of two.
With i = t - t0 and column c = j - j0 their distances run along diagonals,

    x = first + i - c        first = x of query t0 and key j0

so a tile meets 2 N - 1 of them, held by two stretches of N position keys each: `near` has x = first
- 1 .. first - N and `far` x = first + N - 1 .. first. Let s = 0 .. N - 1 count the columns of a
product with a stretch. Row i wants the far product where s >= N - 1 - i and the near one before,
and key column c wants s = c - i - 1 mod N: each row turned by its own number plus one. Turning it
the other way leads from keys back to stretches.
"""

import triton
import triton.language as tl

# K and W change with the spans, the seed with every block: kernels are not specialised for the
# values of these
NUMBERS = ("h", "T", "K", "W", "offset", "ramp", "head_stride", "seed", "Bh")


@triton.jit
def product(a, b, acc: tl.constexpr):
    """Multiply a b, added up in `acc`; 32-bit numbers are multiplied as they are, not shortened."""
    return tl.dot(a, b, out_dtype=acc, input_precision="ieee")


@triton.jit
def rows(
    matrix,
    start,
    count,
    width: tl.constexpr,
    PADDED: tl.constexpr,
    N: tl.constexpr,
):
    """Load rows start .. start + N - 1 of a (count, width) matrix as N PADDED, 0 outside it."""
    row = start + tl.arange(0, N)[:, None]
    column = tl.arange(0, PADDED)[None, :]
    # A tile may begin before the stream's first key, and end after the last.
    in_rows = (row >= 0) & (row < count)
    inside = in_rows & (column < width)
    place = matrix + row * width + column
    return tl.load(place, inside, 0.0)


@triton.jit
def put_rows(
    matrix,
    tile,
    start,
    count,
    width: tl.constexpr,
    PADDED: tl.constexpr,
    N: tl.constexpr,
):
    """Store what `rows` loads."""
    row = start + tl.arange(0, N)[:, None]
    column = tl.arange(0, PADDED)[None, :]
    numbers = tile.to(matrix.dtype.element_ty)
    inside = (row < count) & (column < width)
    place = matrix + row * width + column
    tl.store(place, numbers, inside)


@triton.jit
def row_numbers(vector, t0, T, N: tl.constexpr):
    """Load numbers t0 .. t0 + N - 1 of a vector of T, 0 beyond."""
    t = t0 + tl.arange(0, N)
    return tl.load(vector + t, t < T, 0.0)


@triton.jit
def stretches(
    position_keys,
    first,
    W,
    dk: tl.constexpr,
    DK: tl.constexpr,
    N: tl.constexpr,
):
    """Load the near and far position keys of a tile, N DK each.

    position_keys: W dk, rows x = W .. 1.
    """
    start = W - first + 1  # the row of x = first - 1, nearest to the tile's diagonal
    near = rows(position_keys, start, W, dk, DK, N)
    far = rows(position_keys, start - N, W, dk, DK, N)
    return near, far


@triton.jit
def is_far(N: tl.constexpr):
    """Mark where a row of stretch columns takes from the far stretch: N N."""
    row = tl.arange(0, N)[:, None]
    column = tl.arange(0, N)[None, :]
    return row + column >= N - 1


@triton.jit
def skew(near, far, N: tl.constexpr):
    """Bring products of queries with both stretches, N N each, to key columns: N N."""
    row = tl.arange(0, N)[:, None]
    column = tl.arange(0, N)[None, :]
    # c wants s = c - i - 1 mod N, a power of two.
    source = (column - row - 1) & (N - 1)
    products = tl.where(is_far(N), far, near)
    return tl.gather(products, source, 1)


@triton.jit
def unskew(ds, N: tl.constexpr):
    """Undo `skew`: part gradients in key columns into near and far."""
    row = tl.arange(0, N)[:, None]
    column = tl.arange(0, N)[None, :]
    # Each row is turned the other way.
    source = (column + row + 1) & (N - 1)
    turned = tl.gather(ds, source, 1)
    far = is_far(N)
    to_near = tl.where(far, 0.0, turned)
    to_far = tl.where(far, turned, 0.0)
    return to_near, to_far


@triton.jit
def distances(first, N: tl.constexpr):
    """Compute x of every query and key of a tile: N N."""
    row = tl.arange(0, N)[:, None]
    column = tl.arange(0, N)[None, :]
    return first + row - column


@triton.jit
def ramp_at(x, z, ramp, acc: tl.constexpr):
    """Compute (R + z - (x - 1)) / R, not clamped (Adaptive Attention Span, equation 4)."""
    behind = (x - 1).to(acc)
    return ((ramp + z) - behind) / ramp


@triton.jit
def farthest(reach, z, ramp):
    """Count the keys that a tile's queries see.

    They are fewer than their head's reach where each query has its own span z. One that is NaN
    counts as 0: the nearest keys are enough to show it.
    """
    if z is not None:
        numbers = tl.where(z == z, z, 0.0)  # NaN is not equal to itself
        longest = tl.max(numbers, 0)
        own_reach = tl.ceil(longest).to(tl.int32) + ramp
        reach = tl.minimum(reach, own_reach)
    return reach


@triton.jit
def scores(
    q,
    r,
    k,
    near,
    far,
    z,
    first,
    j0,
    reach,
    ramp,
    acc: tl.constexpr,
    N: tl.constexpr,
):
    """Score a tile with log m added, -inf where a query does not see a key: N N.

    q, r, k: N DK; near, far: N DK, the tile's position keys; z: N, the queries' spans, or None;
    reach: the head's. Queries beyond the block are zeros here, as their dy is, and so add nothing
    to any gradient.
    """
    score = product(q, tl.trans(k), acc)
    to_near = product(r, tl.trans(near), acc)
    to_far = product(r, tl.trans(far), acc)
    score += skew(to_near, to_far, N)
    x = distances(first, N)
    j = j0 + tl.arange(0, N)[None, :]
    visible = (x >= 1) & (x <= reach) & (j >= 0)
    if z is not None:
        m = ramp_at(x, z[:, None], ramp, acc)
        # Where z is NaN, so are m and the score: a run that diverges shows it.
        visible = visible & ((m > 0) | (m != m))
        clamped = tl.where(m > 1, 1.0, m)
        # log 0 is left to the mask of what is not visible.
        seen = tl.where(visible, clamped, 1.0)
        score += tl.log(seen)
    return tl.where(visible, score, float("-inf"))


@triton.jit
def dropout_factors(
    seed,
    t0,
    j0,
    K,
    drop: tl.constexpr,
    acc: tl.constexpr,
    N: tl.constexpr,
):
    """Draw the factors of a tile's weights, each 0 or 1 / (1 - drop): N N.

    They depend on the seed, the query t and the key j alone: every kernel draws the same ones,
    whatever its tiles.
    """
    t = t0 + tl.arange(0, N)[:, None]
    j = tl.arange(0, N)[None, :]
    number = t * K + j0 + j
    kept = tl.rand(seed, number) >= drop
    return kept.to(acc) * (1 / (1 - drop))


@triton.jit
def slopes(
    score,
    v,
    dy,
    lse,
    delta,
    seed,
    t0,
    j0,
    K,
    drop: tl.constexpr,
    acc: tl.constexpr,
    N: tl.constexpr,
):
    """Compute the weights f p of a tile, f its dropout factors, and the gradient of its scores,
    each N N.

    p = exp(score - lse)     ds = p (f dy . v - delta)     delta = sum_j p f dy . v_j = dy . y

    v: N DV; dy: N DV; lse, delta: N (FlashAttention, Dao et al. 2022, section B.2).
    """
    p = tl.exp(score - lse[:, None])
    dp = product(dy, tl.trans(v), acc)
    weights = p
    if drop > 0:
        factors = dropout_factors(seed, t0, j0, K, drop, acc, N)
        weights = p * factors
        dp = dp * factors
    return weights, p * (dp - delta[:, None])
