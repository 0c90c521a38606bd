"""What the kernels of banded attention share: the tile of scores, and what a tile gives back.

A tile holds N queries t = t0 .. t0 + N - 1 against N keys j = j0 .. j0 + N - 1, N a power of two. Their distances run
along diagonals,

    x = first + (t - t0) - (j - j0)        first = x of query t0 and key j0

so a tile meets 2 N - 1 distances: the window x = first + N - 1 .. first - N, whose last column stays unused. Products
with position keys are formed over the window (N 2N) and skewed to key columns (N N) by a gather within each row:

    key column j - j0  <-  window column N - 1 - (t - t0) + (j - j0)
"""

import triton
import triton.language as tl


@triton.jit
def product(a, b, acc: tl.constexpr):
    """a b, added up in `acc`; 32-bit numbers are multiplied as they are, not shortened."""
    return tl.dot(a, b, out_dtype=acc, input_precision="ieee")


@triton.jit
def rows(matrix, start, count, width: tl.constexpr, PADDED: tl.constexpr, N: tl.constexpr):
    """Rows start .. start + N - 1 of a (count, width) matrix as N PADDED, 0 outside it."""
    row, column = start + tl.arange(0, N)[:, None], tl.arange(0, PADDED)[None, :]
    return tl.load(matrix + row * width + column, (row >= 0) & (row < count) & (column < width), 0.0)


@triton.jit
def put_rows(matrix, tile, start, count, width: tl.constexpr, PADDED: tl.constexpr, N: tl.constexpr):
    """The inverse of `rows`."""
    row, column = start + tl.arange(0, N)[:, None], tl.arange(0, PADDED)[None, :]
    tl.store(matrix + row * width + column, tile.to(matrix.dtype.element_ty), (row < count) & (column < width))


@triton.jit
def window(places, first, W, dk: tl.constexpr, DK: tl.constexpr, N: tl.constexpr):
    """Position keys of x = first + N - 1 .. first - N from places (dk W, columns x = W .. 1): DK 2N, 0 where none is."""
    x = first + N - 1 - tl.arange(0, 2 * N)[None, :]
    row = tl.arange(0, DK)[:, None]
    return tl.load(places + row * W + (W - x), (row < dk) & (x >= 1) & (x <= W), 0.0)


@triton.jit
def distances(first, N: tl.constexpr):
    """x of every query and key of a tile: N N."""
    return first + tl.arange(0, N)[:, None] - tl.arange(0, N)[None, :]


@triton.jit
def ramp_at(x, z, ramp, acc: tl.constexpr):
    """(R + z - (x - 1)) / R, not clamped (Adaptive Attention Span, equation 4)."""
    return ((ramp + z) - (x - 1).to(acc)) / ramp


@triton.jit
def scores(q, k, p, z, first, t0, j0, T, far, ramp, scale: tl.constexpr, acc: tl.constexpr, N: tl.constexpr):
    """Scores of a tile with log m added, -inf where a query does not see a key: N N.

    q: N DK; k: N DK; p: DK 2N, the position keys of the tile's window; far: the head's reach; z: its span or None.
    """
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    score = product(q, tl.trans(k), acc) + tl.gather(product(q, p, acc), N - 1 - i + j, 1)
    score *= scale
    x = distances(first, N)
    visible = (x >= 1) & (x <= far) & (j0 + j >= 0) & (t0 + i < T)
    if z is not None:
        m = ramp_at(x, z, ramp, acc)
        visible = visible & (m > 0)
        score += tl.log(tl.where(visible, tl.minimum(m, 1.0), 1.0))
    return tl.where(visible, score, float("-inf"))


@triton.jit
def slopes(score, v, dy, lse, delta, acc: tl.constexpr):
    """Weights p of a tile and the gradient of its scores, each N N.

    p = exp(score - lse)     ds = p (dy . v - delta)     delta = sum_j p dp = dy . y

    v: N DV; dy: N DV; lse, delta: N (FlashAttention, Dao et al. 2022, section B.2).
    """
    p = tl.exp(score - lse[:, None])
    return p, p * (product(dy, tl.trans(v), acc) - delta[:, None])


@triton.jit
def unskew(ds, N: tl.constexpr):
    """The transpose of the gather in `scores`: key columns N N onto window columns N 2N."""
    column = tl.arange(0, 2 * N)[None, :] - (N - 1) + tl.arange(0, N)[:, None]
    inside = (column >= 0) & (column < N)
    return tl.where(inside, tl.gather(ds, tl.where(inside, column, 0), 1), 0.0)
