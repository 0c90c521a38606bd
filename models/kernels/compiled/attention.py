"""Attention of several heads over what each of them sees, in C: see attention.c."""

import ctypes
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..no_double_backward import no_double_backward
from .build import library, threads

STREAM, SENTENCE, CROSS = range(3)
ENTMAX, SOFTMAX_ONE, SIGMOID = range(3)
I, P, D = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double  # noqa: E741  as an integer, a pointer, a double


class _ByHead(ctypes.Structure):
    _fields_ = [("data", P), ("first", P), ("stream", P), ("row", P)]


class _RowsOf(ctypes.Structure):
    _fields_ = [("data", P), ("stream", I), ("head", I), ("row", I)]


class AttentionStruct(ctypes.Structure):
    """The struct `attention` of attention.c."""

    _fields_ = [
        *((name, I) for name in ("B", "H", "T", "d_k", "d_r", "d_v", "kind", "attends_self", "reach", "kept", "ramp")),
        *((name, I) for name in ("limit", "normaliser", "learned_alpha", "threads", "grad", "alone")),
        *((name, P) for name in ("keys", "lengths")),
        *((name, _RowsOf) for name in ("q", "r", "y", "dy", "dq", "dr", "z", "dz")),
        *((name, _ByHead) for name in ("k", "v", "dk", "dv")),
        *((name, P) for name in ("p", "pt")),
        *((name, I) for name in ("p_row", "p_head", "pt_head", "zero")),
        ("dpt", P),
        *((name, I) for name in ("dpt_head", "dpt_size")),
        *((name, P) for name in ("alpha", "dalpha", "rows")),
        ("scale", D),
        ("drop", D),
        ("seed", ctypes.c_uint64),
    ]


def numbers(*values: int):
    """Make an array of 64-bit integers for C."""
    return (I * len(values))(*values)


@dataclass(frozen=True)
class Layout:
    """Where the rows of each head lie in a tensor, `width` numbers each: the first, strides of streams and of rows."""

    width: int
    first: tuple[int, ...]
    stream: tuple[int, ...]
    row: tuple[int, ...]


@lru_cache(maxsize=4096)
def _arrays(layout: Layout) -> tuple:
    return tuple(numbers(*values) for values in (layout.first, layout.stream, layout.row))


@lru_cache(maxsize=4096)
def _keys(counts: tuple[int, ...]):
    return numbers(*counts)


@dataclass(frozen=True)
class Pattern:
    """What queries see, and how they weigh it.

    kind: STREAM, SENTENCE (in both directions) or CROSS. keys: by head. reach: bound of all heads. ramp: R, 0 for no
    mask, then limit is S. kept: k of top-k, 0 for all. normaliser: ENTMAX (of alpha), SOFTMAX_ONE or SIGMOID.
    learned_alpha: whether alpha has a gradient. scale: of queries.
    """

    kind: int
    keys: tuple[int, ...]
    k: Layout
    v: Layout
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


def _rows_of(x: Tensor | None) -> _RowsOf:
    """Describe the rows of x: B H T d, its last axis contiguous."""
    if x is None:
        return _RowsOf()
    strides = [stride if size > 1 else 0 for size, stride in zip(x.shape[:3], x.stride()[:3], strict=True)]
    return _RowsOf(x.data_ptr(), *strides)


def _by_head(x: Tensor, layout: Layout) -> _ByHead:
    first, stream, row = map(ctypes.addressof, _arrays(layout))
    return _ByHead(x.data_ptr(), first, stream, row)


class _Call:
    """One call of C and what it reads: kept alive until it returns."""

    def __init__(self, pattern: Pattern, q, r, k, v, p, z, alpha, lengths, saved):
        B, H, T, d_k = q.shape
        self.pattern, self.lengths, self.saved = pattern, lengths, saved
        self.struct = c = AttentionStruct(B=B, H=H, T=T, d_k=d_k, kind=pattern.kind, attends_self=pattern.attends_self)
        c.reach, c.kept, c.ramp, c.limit = pattern.reach, pattern.kept, pattern.ramp, pattern.limit
        c.normaliser, c.learned_alpha, c.threads = pattern.normaliser, pattern.learned_alpha, threads()
        c.keys, c.lengths = ctypes.addressof(_keys(pattern.keys)), lengths.data_ptr() if lengths is not None else None
        c.q, c.r, c.z = _rows_of(q), _rows_of(r), _rows_of(None if z is None else z.expand(B, H, -1, 1))
        if z is not None and z.dim() == 3:
            c.z.row = c.z.stream = 0
        c.k, c.v, c.drop, c.seed = _by_head(k, pattern.k), _by_head(v, pattern.v), pattern.drop, pattern.seed
        c.scale = pattern.scale
        c.alpha, c.rows = alpha.data_ptr(), saved.data_ptr()
        if p is not None:
            c.d_r = r.size(3)
            self._positions(p)

    def _positions(self, p: Tensor) -> None:
        """Hand over the position keys p: d_r columns, or H d_r columns."""
        c, lanes = self.struct, library(p.dtype).lanes()
        self.p, self.pt = pad(p, (0, lanes)), p.transpose(-1, -2).contiguous()
        c.p, c.pt, c.p_row = self.p.data_ptr(), self.pt.data_ptr(), self.p.size(-1)
        if p.dim() == 3:
            c.p_head, c.pt_head = self.p.stride(0), self.pt.stride(0)
        c.zero = p.size(-1) - 1 if self.pattern.kind == STREAM else p.size(-1) // 2

    def run(self, dtype: torch.dtype) -> None:
        library(dtype).attend(ctypes.byref(self.struct))


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pattern, lengths, q, r, k, v, p, z, alpha, alone):
        B, H, T, _ = q.shape
        saved = q.new_empty(B, H, T, 3)
        call = _Call(pattern, q, r, k, v, p, z, alpha, lengths, saved)
        dv = pattern.v.width
        y = q.new_empty(B, T, H, dv).transpose(1, 2)
        call.struct.y, call.struct.d_v, call.struct.alone = _rows_of(y), dv, alone
        call.run(q.dtype)
        ctx.pattern = pattern
        ctx.save_for_backward(lengths, q, r, k, v, p, z, alpha, saved)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        lengths, q, r, k, v, p, z, alpha, saved = ctx.saved_tensors
        dy = dy if dy.stride(-1) == 1 else dy.contiguous()
        call = _Call(ctx.pattern, q, r, k, v, p, z, alpha, lengths, saved)
        c = call.struct
        c.grad, c.d_v, c.dy = 1, ctx.pattern.v.width, _rows_of(dy)
        dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        c.dq, c.dk, c.dv = _rows_of(dq), _by_head(dk, ctx.pattern.k), _by_head(dv, ctx.pattern.v)
        dr = dpt = dz = dalpha = None
        if p is not None:
            dr, dpt = torch.empty_like(r), call.pt.new_zeros(call.pt.shape)
            c.dr, c.dpt, c.dpt_size = _rows_of(dr), dpt.data_ptr(), dpt.size(-2) * dpt.size(-1)
            c.dpt_head = c.dpt_size if p.dim() == 3 else 0
        if z is not None and ctx.needs_input_grad[7]:
            dz = q.new_zeros(*q.shape[:3], 1)
            c.dz = _rows_of(dz)
        if ctx.pattern.learned_alpha:
            dalpha = q.new_zeros(q.shape[:3])
            c.dalpha = dalpha.data_ptr()
        call.run(q.dtype)
        if dpt is not None:
            dpt = dpt.transpose(-1, -2)
        if dz is not None:
            dz = dz.sum_to_size(z.shape)
        if dalpha is not None:
            dalpha = dalpha.sum((0, 2)).view(alpha.shape)
        return None, None, dq, dr, dk, dv, dpt, dz, dalpha, None


def attend(pattern: Pattern, q, r, k, v, p, z, alpha, lengths: Tensor | None = None) -> Tensor:
    """Attend with the compiled library -> B H T dv.

    q: B H T dk, r: B H T d_r, the content and position queries; r is None without positions. k, v: of any shape whose
    last axis is dk and dv, laid out as `pattern` says. p: d_r W or H d_r W, the last column x = 1; of a sentence read
    both ways d_r 2W - 1, x = W .. 1 .. W. z: H 1 1 or B H T 1, None without a ramp. alpha: H, of alpha-entmax.
    lengths: B, keys that are no padding.
    """
    q, r = (x if x is None or x.stride(-1) == 1 else x.contiguous() for x in (q, r))
    return _Attend.apply(pattern, lengths, q, r, k, v, p, z, alpha, not torch.is_grad_enabled())
