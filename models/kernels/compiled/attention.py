"""Attention of several heads over what each of them sees, in C: see attention.c."""

import ctypes
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..no_double_backward import no_double_backward
from .build import library, threads
from .memory import address, address_of_row, rows_contiguous

# Kinds of attention (pattern.h) and families of normalisers (rows.h), by their numbers in C.
STREAM, SENTENCE, CROSS = range(3)
ENTMAX, SOFTMAX_ONE, SIGMOID = range(3)
# What the library can compute, by the `kernel` that choices declare: of spans, those without a mask
# up to their reach and those with a ramp; of normalisers, the number by which C knows them.
SPANS = ("window", "ramp")
SELECTIONS = ("all", "top_k")
NORMALISERS = {
    "softmax": ENTMAX,  # alpha = 1
    "entmax": ENTMAX,
    "softmax_one": SOFTMAX_ONE,
    "sigmoid": SIGMOID,
}
# Types of C, by a letter each: an integer, a pointer and a double.
I = ctypes.c_int64  # noqa: E741
P = ctypes.c_void_p
D = ctypes.c_double


def fields(kind: type, *names: str) -> list[tuple[str, type]]:
    """List fields of one type, in the order in which a C struct declares them."""
    return [(name, kind) for name in names]


class _ByHead(ctypes.Structure):
    """The struct `by_head` of pattern.h: keys or values; each head may have its own count.

    first, stream and row: arrays with a number for each head, as in `Layout`.
    """

    _fields_ = fields(P, "data", "first", "stream", "row")


class _RowsOf(ctypes.Structure):
    """The struct `rows_of` of pattern.h: where rows are; strides of stream, head and row."""

    _fields_ = [("data", P), *fields(I, "stream", "head", "row")]


class AttentionStruct(ctypes.Structure):
    """The struct `attention` of attention.c."""

    _fields_ = [
        *fields(I, "B", "H", "T", "d_k", "d_r", "d_v"),
        *fields(I, "kind", "attends_self", "reach", "kept", "ramp", "limit"),
        *fields(I, "normaliser", "learned_alpha", "threads", "grad", "alone"),
        *fields(P, "keys", "lengths"),
        *fields(_RowsOf, "q", "r", "y", "dy", "dq", "dr", "z", "dz"),
        *fields(_ByHead, "k", "v", "dk", "dv"),
        *fields(P, "p", "pt"),
        *fields(I, "p_row", "p_head", "pt_head", "zero"),
        *fields(P, "dpt"),
        *fields(I, "dpt_head", "dpt_size"),
        *fields(P, "alpha", "dalpha", "rows"),
        *fields(D, "scale", "drop"),
        *fields(ctypes.c_uint64, "seed"),
    ]


def numbers(*values: int):
    """Make an array of 64-bit integers for C."""
    return (I * len(values))(*values)


@dataclass(frozen=True)
class Layout:
    """Where the rows of each head are in a tensor, `width` numbers each.

    first: the place of the first number. stream, row: strides. All by head.
    """

    width: int
    first: tuple[int, ...]
    stream: tuple[int, ...]
    row: tuple[int, ...]

    def extent(self, streams: int, counts: tuple[int, ...]) -> int:
        """Count the numbers up to the end of the last row, of `counts` rows by head.

        0 where there is no row.
        """
        furthest = 0
        heads = zip(self.first, self.stream, self.row, counts, strict=True)
        for first, stream, row, count in heads:
            if not (count and streams and self.width):
                continue
            last_stream = (streams - 1) * stream
            last_row = (count - 1) * row
            stop = first + last_stream + last_row + self.width
            furthest = max(furthest, stop)
        return furthest


# Arrays are made once for each layout: a run has few, and calls C hundreds of times a second.
@lru_cache(maxsize=4096)
def _arrays(layout: Layout) -> tuple:
    first = numbers(*layout.first)
    stream = numbers(*layout.stream)
    row = numbers(*layout.row)
    return first, stream, row


@lru_cache(maxsize=4096)
def _extent(layout: Layout, streams: int, counts: tuple[int, ...]) -> int:
    return layout.extent(streams, counts)


@lru_cache(maxsize=4096)
def _keys(counts: tuple[int, ...]):
    return numbers(*counts)


@dataclass(frozen=True)
class Pattern:
    """What queries see, and how they weigh it.

    kind: STREAM, SENTENCE (in both directions) or CROSS. keys: by head. k, v: how keys and values
    lie in one row of numbers, None where they are B H N d. reach: bound of all heads. ramp: R, 0
    for no mask, else limit is S. kept: k of top-k, 0 for all. normaliser: ENTMAX (of alpha),
    SOFTMAX_ONE or SIGMOID. learned_alpha: whether alpha has a gradient. scale: of queries.
    ValueError for numbers with which C would leave its tables.
    """

    kind: int
    keys: tuple[int, ...]
    k: Layout | None
    v: Layout | None
    reach: int
    attends_self: bool = True
    ramp: int = 0
    limit: int = 0
    kept: int = 0
    normaliser: int = ENTMAX
    learned_alpha: bool = False
    scale: float = 1.0
    drop: float = 0.0
    seed: int = 0

    def __post_init__(self):
        # C sizes its tables by these numbers.
        sizes = {
            "keys": min(self.keys, default=0),
            "reach": self.reach,
            "kept": self.kept,
            "ramp": self.ramp,
            "limit": self.limit,
        }
        for name, number in sizes.items():
            if number < 0:
                raise ValueError(f"compiled code needs {name} of at least 0, got {number}")
        if not 0 <= self.drop <= 1:
            raise ValueError(f"dropout must be within 0 and 1, got {self.drop}")


def _rows_of(name: str, x: Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> _RowsOf:
    """Describe the rows of x: B H T d, its last axis contiguous.

    ValueError where x is anything else.
    """
    if x is None:
        return _RowsOf()
    # Checked: C reads what the shape says.
    start = address(name, x, shape, dtype)
    B, H, T, width = shape
    stream, head, row, number = x.stride()
    if number != 1 and width > 1:
        raise ValueError(
            f"compiled code needs rows of {name} to be contiguous; strides {x.stride()}"
        )
    # torch leaves the stride of an axis of one open; with a stride of 0 C adds nothing.
    return _RowsOf(
        data=start,
        stream=stream if B > 1 else 0,
        head=head if H > 1 else 0,
        row=row if T > 1 else 0,
    )


def _rows_first(x: Tensor) -> Layout:
    """Describe x: B H N d by its own strides."""
    _, H, _, width = x.shape
    stream, head, row, _ = x.stride()
    first = tuple(head * index for index in range(H))
    return Layout(width, first, stream=(stream,) * H, row=(row,) * H)


def _check_positions(pattern: Pattern, p: Tensor, r: Tensor | None, H: int) -> None:
    """Raise ValueError unless the queries r meet a position key at every distance."""
    *heads, d_r, columns = p.shape
    takes_positions = r is not None and pattern.kind != CROSS
    fits = takes_positions and heads in ([], [H]) and d_r == r.size(-1)
    if not fits:
        queries = None if r is None else tuple(r.shape)
        shapes = f"{tuple(p.shape)} for queries {queries}"
        raise ValueError(f"position keys do not fit: {shapes}")
    longest = max(pattern.keys, default=0)
    if pattern.kind == SENTENCE:  # x = W .. 1 .. W
        widest = min(pattern.reach, longest)
        needed = 2 * widest - 1
        is_centred = columns % 2 == 1
        fits = columns >= needed and is_centred
    else:  # x = W .. 1
        farthest_key = longest - 1 + pattern.attends_self
        needed = min(pattern.reach, farthest_key)
        fits = columns >= needed
    if not fits:
        raise ValueError(f"position keys reach {columns} columns, {needed} are needed")


def _check_lengths(pattern: Pattern, lengths: Tensor, T: int) -> None:
    """Raise ValueError unless there are as many keys as the lengths say.

    In a sentence there must be as many queries, too.
    """
    rows = pattern.keys
    if pattern.kind == SENTENCE:
        rows = (*pattern.keys, T)
    most = min(rows, default=0)
    given = lengths.tolist()
    for length in given:
        if not 0 <= length <= most:
            raise ValueError(f"lengths must be within 0 and {most}, got {given}")


class _Call:
    """One call of C and what it reads: kept alive until it returns."""

    def __init__(
        self,
        pattern: Pattern,
        q: Tensor,
        r: Tensor | None,
        k: Tensor,
        v: Tensor,
        p: Tensor | None,
        z: Tensor | None,
        alpha: Tensor,
        lengths: Tensor | None,
        saved: Tensor,
    ):
        """Describe the tensors of `attend` to C; saved: B H T 3, from which weights are recovered.

        ValueError where one of them is not what C would read.
        """
        B, H, T, d_k = q.shape
        d_v = v.size(-1) if pattern.v is None else pattern.v.width
        counts = _keys(pattern.keys)
        # Nothing that C has an address of may be freed before it returns.
        self.read = [counts, q, r, k, v, z, alpha, lengths, saved]
        self.pattern = pattern
        self.dtype = dtype = q.dtype
        self.rows = (B, H, T)
        self.struct = c = AttentionStruct(
            B=B,
            H=H,
            T=T,
            d_k=d_k,
            d_v=d_v,
            kind=pattern.kind,
            attends_self=pattern.attends_self,
            reach=pattern.reach,
            kept=pattern.kept,
            ramp=pattern.ramp,
            limit=pattern.limit,
            normaliser=pattern.normaliser,
            learned_alpha=pattern.learned_alpha,
            threads=threads(),
            keys=ctypes.addressof(counts),
            scale=pattern.scale,
            drop=pattern.drop,
            seed=pattern.seed,
        )
        self._check_fit(q, k, v, lengths)
        if lengths is not None:
            c.lengths = address_of_row("lengths", lengths, (B,), torch.int64)
            _check_lengths(pattern, lengths, T)
        c.q = self.of_queries("queries", q, d_k)
        c.k = self.of_keys("keys", k)
        c.v = self.of_values("values", v)
        self._mask(z)
        c.alpha = address_of_row("alpha", alpha, (H,), dtype)
        c.rows = address_of_row("saved rows", saved, (B, H, T, 3), dtype)
        if p is not None:
            _check_positions(pattern, p, r, H)
            c.d_r = r.size(3)
            c.r = self.of_queries("position queries", r, c.d_r)
            self._positions(p)

    def _check_fit(self, q: Tensor, k: Tensor, v: Tensor, lengths: Tensor | None) -> None:
        pattern = self.pattern
        alike = k.dtype == v.dtype == q.dtype
        fits = alike and len(pattern.keys) == q.size(1)
        # C reads how long each sentence is.
        has_lengths = lengths is not None or pattern.kind != SENTENCE
        if fits and has_lengths:
            return
        shapes = ", ".join(f"{tuple(x.shape)} {x.dtype}" for x in (q, k, v))
        raise ValueError(
            f"queries, keys and values do not fit: {shapes}; keys by head: {pattern.keys}"
        )

    def of_queries(self, name: str, x: Tensor, width: int) -> _RowsOf:
        """Describe x: B H T width, with a row for each query."""
        return _rows_of(name, x, (*self.rows, width), self.dtype)

    def of_keys(self, name: str, x: Tensor) -> _ByHead:
        return self._by_head(name, x, self.pattern.k, self.struct.d_k)

    def of_values(self, name: str, x: Tensor) -> _ByHead:
        return self._by_head(name, x, self.pattern.v, self.struct.d_v)

    def _by_head(self, name: str, x: Tensor, layout: Layout | None, width: int) -> _ByHead:
        """Describe keys, values or their gradients x.

        B H N width, or numbers in a row as `layout` says. ValueError where x does not hold them.
        """
        B, H, _ = self.rows
        counts = self.pattern.keys
        if layout is None:
            N = max(counts, default=0)
            start = _rows_of(name, x, (B, H, N, width), self.dtype).data
            layout = _rows_first(x)
        else:
            start = address_of_row(name, x, x.shape, self.dtype)
            needed = _extent(layout, B, counts)
            if layout.width != width or needed > x.numel():
                raise ValueError(
                    f"{name} of {x.numel()} numbers does not hold "
                    f"{B} streams of {counts} rows of {width}"
                )
        first, stream, row = _arrays(layout)
        self.read += [first, stream, row]
        return _ByHead(
            data=start,
            first=ctypes.addressof(first),
            stream=ctypes.addressof(stream),
            row=ctypes.addressof(row),
        )

    def _mask(self, z: Tensor | None) -> None:
        """Hand over the spans z: H 1 1, or B H T 1."""
        if z is None:
            if self.pattern.ramp:
                raise ValueError("a ramp needs a span for each head")
            return
        B, H, T = self.rows
        by_query = z.dim() == 4
        queries = T if by_query else 1
        spans = z.expand(B, H, -1, 1)
        self.struct.z = _rows_of("spans", spans, (B, H, queries, 1), self.dtype)
        if not by_query:  # one span for all queries of all streams
            self.struct.z.row = 0
            self.struct.z.stream = 0

    def _positions(self, p: Tensor) -> None:
        """Hand over the position keys p: d_r columns, or H d_r columns."""
        c = self.struct
        # C reads position keys a vector at a time, beyond the last column too.
        lanes = library(p.dtype).lanes()
        self.p = pad(p, (0, lanes)).contiguous()
        self.pt = p.mT.contiguous()
        c.p = address_of_row("position keys", self.p, self.p.shape, self.dtype)
        c.pt = address_of_row("position keys", self.pt, self.pt.shape, self.dtype)
        c.p_row = self.p.size(-1)
        if p.dim() == 3:
            c.p_head = self.p.stride(0)
            c.pt_head = self.pt.stride(0)
        # The column of x = 1: the last of a stream, the middle one of a sentence.
        columns = p.size(-1)
        is_stream = self.pattern.kind == STREAM
        c.zero = columns - 1 if is_stream else columns // 2

    def run(self) -> None:
        library(self.dtype).attend(ctypes.byref(self.struct))


Z = 7  # the place of z among the arguments of `_Attend.forward`


class _Attend(torch.autograd.Function):
    """`attend`, with its gradients by a second call of C, which computes the weights anew."""

    @staticmethod
    def forward(
        ctx,
        pattern,
        lengths,
        q,
        r,
        k,
        v,
        p,
        z,
        alpha,
        alone,
    ):
        B, H, T, _ = q.shape
        # Of each row its threshold, its largest score and tau, from which the backward pass
        # recovers the weights (rows.h): nothing of size T x N is kept.
        saved = q.new_empty(B, H, T, 3)
        call = _Call(pattern, q, r, k, v, p, z, alpha, lengths, saved)
        d_v = call.struct.d_v
        # Heads of a query next to one another, as the output projection reads them.
        y = q.new_empty(B, T, H, d_v).transpose(1, 2)
        call.struct.y = call.of_queries("outputs", y, d_v)
        call.struct.alone = alone
        call.run()
        ctx.pattern = pattern
        ctx.save_for_backward(lengths, q, r, k, v, p, z, alpha, saved)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        lengths, q, r, k, v, p, z, alpha, saved = ctx.saved_tensors
        call = _Call(ctx.pattern, q, r, k, v, p, z, alpha, lengths, saved)
        c = call.struct
        c.grad = 1
        dy = rows_contiguous(dy)
        c.dy = call.of_queries("the gradient of outputs", dy, c.d_v)
        # Written by C, every number of it.
        dq = _gradient(q)
        # C adds to the gradients of keys and values: many queries see the same key.
        dk = _gradient(k).zero_()
        dv = _gradient(v).zero_()
        c.dq = call.of_queries("the gradient of queries", dq, c.d_k)
        c.dk = call.of_keys("the gradient of keys", dk)
        c.dv = call.of_values("the gradient of values", dv)
        dr = None
        dpt = None
        dz = None
        dalpha = None
        if p is not None:
            dr = _gradient(r)
            # Transposed, a row for each distance: W d_r.
            shape = call.pt.shape
            dpt = call.pt.new_zeros(shape)
            c.dr = call.of_queries("the gradient of position queries", dr, c.d_r)
            c.dpt = address_of_row("the gradient of position keys", dpt, shape, call.dtype)
            c.dpt_size = dpt.size(-2) * dpt.size(-1)
            # Heads that share position keys add to the same gradient.
            c.dpt_head = c.dpt_size if p.dim() == 3 else 0
        if z is not None and ctx.needs_input_grad[Z]:
            dz = q.new_zeros(*call.rows, 1)
            c.dz = call.of_queries("the gradient of spans", dz, 1)
        # By stream, head and query: added up here.
        if ctx.pattern.learned_alpha:
            dalpha = q.new_zeros(call.rows)
            c.dalpha = address_of_row("the gradient of alpha", dalpha, call.rows, call.dtype)
        call.run()
        dp = None if dpt is None else dpt.mT
        if dz is not None:
            dz = dz.sum_to_size(z.shape)
        if dalpha is not None:
            by_head = dalpha.sum((0, 2))
            dalpha = by_head.view(alpha.shape)
        # pattern, lengths and alone have no gradient.
        return None, None, dq, dr, dk, dv, dp, dz, dalpha, None


def _gradient(x: Tensor) -> Tensor:
    """Make the tensor of x's gradient, its rows contiguous and no number shared.

    Strides are x's where torch keeps them.
    """
    gradient = torch.empty_like(x)
    if gradient.stride(-1) == 1:
        return gradient
    return x.new_empty(x.shape)


def attend(
    pattern: Pattern,
    q: Tensor,
    r: Tensor | None,
    k: Tensor,
    v: Tensor,
    p: Tensor | None,
    z: Tensor | None,
    alpha: Tensor,
    lengths: Tensor | None = None,
) -> Tensor:
    """Attend with the compiled library -> B H T dv.

    q: B H T dk, r: B H T d_r, the content and position queries; r is None without positions.
    k: B H N dk, v: B H N dv, of any strides; or numbers in one row, laid out as `pattern` says.
    p: d_r W or H d_r W, the last column x = 1; of a sentence read both ways d_r 2W - 1,
    x = W .. 1 .. W. z: H 1 1 or B H T 1, None without a ramp. alpha: H, of alpha-entmax.
    lengths: B, keys that are no padding.

    Rows that are not contiguous are copied. ValueError where shapes, types or sizes do not fit.
    """
    # Where no backward pass will repeat the scores, C may compute them in a faster order.
    alone = not torch.is_grad_enabled()
    return _Attend.apply(
        pattern,
        lengths,
        rows_contiguous(q),
        rows_contiguous(r),
        rows_contiguous(k),
        rows_contiguous(v),
        p,
        z,
        alpha,
        alone,
    )
