"""Attention of some heads over a band of keys, differentiated by autograd: every choice, on every
device.

    s = q k^T + r p^T     content and position; a column for each distance x = W .. 1
    y = dropout(normalise(select(s + log m))) v

A block is cut into chunks so that few scores are held at a time: c queries of b streams, which see
W keys each and W + c - 1 together. Where a block has several chunks, the backward pass computes the
scores of each anew.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, pad
from torch.utils.checkpoint import checkpoint

from .groups import HeadGroup

QUERIES = 64  # c: at most c - 1 keys outside the band are multiplied in vain
LONG = 16  # twice as many where the band is this many times as wide: then it hardly shows
CHUNK_BYTES = 64 << 20  # of scores at a time


@dataclass(frozen=True)
class Chunk:
    """A piece of a block: slices of its queries T, streams B and keys K.

    missing: columns of the scores before the stream's first key. window: W, columns of a query.
    """

    queries: slice
    streams: slice
    keys: slice
    missing: int
    window: int

    @property
    def c(self) -> int:
        return self.queries.stop - self.queries.start

    def of_block(self, x: Tensor) -> Tensor:
        """Take the chunk of B g T d: b g c d."""
        return x[self.streams, :, self.queries]

    def of_queries(self, x: Tensor) -> Tensor:
        """Take the chunk of B g T d: n c d, where n counts streams x heads."""
        return self.of_block(x).flatten(0, 1)

    def of_keys(self, x: Tensor) -> Tensor:
        """View the chunk of K B g d: n k d."""
        rows = x[self.keys, self.streams]  # k b g d
        return rows.flatten(1, 2).transpose(0, 1)

    def by_head(self, x: Tensor) -> Tensor:
        """Part streams and heads again: n .. -> b g .."""
        b = self.streams.stop - self.streams.start
        return x.unflatten(0, (b, -1))


def chunks(
    T: int, K: int, B: int, heads: int, reach: int, attends_self: bool, bytes_each: int
) -> Iterator[Chunk]:
    """Cut a block of T queries into chunks; the last T of K keys are the block's own.

    No query sees beyond `reach`. Where the queries of a chunk see no key at all, its window is the
    column x = 1, before the stream's first key.
    """
    # A chunk of c queries multiplies c - 1 keys too many: for a wide band more queries cost little.
    step = QUERIES * (2 if reach >= LONG * QUERIES else 1)
    for start in range(0, T, step):
        stop = min(start + step, T)
        c = stop - start
        seen = K - T + stop - 1 + attends_self  # keys up to the one that the last query sees
        window = max(1, min(reach, seen))
        width = window + c - 1  # columns of all queries together
        first = seen - width
        # as many streams as fit into the bytes of a chunk
        b = max(1, CHUNK_BYTES // (heads * c * width * bytes_each))
        for stream in range(0, B, b):
            yield Chunk(
                queries=slice(start, stop),
                streams=slice(stream, min(stream + b, B)),
                keys=slice(max(0, first), seen),
                missing=max(0, -first),
                window=window,
            )


def band(scores: Tensor, window: int) -> Tensor:
    """View columns i .. i + W - 1 of each row i of contiguous (.. c, W + c - 1) scores: (.. c, W).

    Its row stride is one longer than the rows: nothing is copied to skew the scores or to undo it.
    """
    *batch, c, width = scores.shape
    # Row i begins one column further right than row i - 1.
    strides = (*scores.stride()[:-2], width + 1, 1)
    return scores.as_strided((*batch, c, window), strides, scores.storage_offset())


def attend_band(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """Compute the outputs of a block of queries: B g T dv.

    q, r: B g T dk, content and position queries, over sqrt(dk); r is None without position keys.
    k: K B g dk and v: K B g dv, the last T the block's own. position_keys: dk W or g dk W, W at
    least the group's reach, the last column x = 1. z: the span's extent. parameters: of selection
    and normaliser, for these heads.
    """
    B, heads, T, _ = q.shape
    size = q.element_size()
    pieces = list(chunks(T, len(k), B, heads, group.reach, group.attends_self, size))
    again = torch.is_grad_enabled() and len(pieces) > 1
    of_queries: dict[int, list[Tensor]] = {}  # by their start, the outputs of each group of streams
    for chunk in pieces:
        given = (group, chunk, q, r, k, v, position_keys, z, *parameters)
        if again:
            y = checkpoint(_attend_chunk, *given, use_reentrant=False)
        else:
            y = _attend_chunk(*given)
        of_queries.setdefault(chunk.queries.start, []).append(y)
    return torch.cat([torch.cat(of_streams) for of_streams in of_queries.values()], 2)


def _attend_chunk(
    group: HeadGroup, chunk: Chunk, q, r, k, v, position_keys, z, *parameters
) -> Tensor:
    """Compute the outputs of a chunk: b g c dv."""
    # n c W
    s = band(_content_scores(chunk, q, k), chunk.window)
    if r is not None:
        s = s + _position_scores(chunk, r, position_keys)
    s = chunk.by_head(s)  # b g c W
    if z is not None and z.dim() == 4:  # a span for each query
        z = z[chunk.streams, :, chunk.queries]
    # The columns are x = W .. 1.
    x = torch.arange(chunk.window, 0, -1, device=s.device)
    log_m = group.span.log_mask(x, z)
    s = _masked(s, log_m, chunk)
    if group.first:
        to_first = _scores_of_first(group, chunk, r, position_keys)
        s = torch.cat([to_first, s], -1)

    # A row of -inf has no softmax: its last score becomes 0, and its output 0 in the end.
    with torch.no_grad():
        empty = _largest(s, log_m) == -math.inf
        # -inf alone has no weights; those of this number are taken away again
        s[..., -1:].masked_fill_(empty, 0.0)
    with _substituted(parameters, group.selection, group.normaliser):
        kept = group.selection(s)
        p = dropout(group.normaliser(kept), group.drop)

    in_band = p[..., s.size(-1) - chunk.window :]
    by_key = _unband(in_band).flatten(0, 1)  # n c (W + c - 1)
    # Columns before the first key of the stream have no values.
    y = torch.bmm(by_key[..., chunk.missing :], chunk.of_keys(v))
    y = chunk.by_head(y)
    if group.first:
        values = group.first.v[:, chunk.streams].permute(1, 2, 0, 3)
        y = y + p[..., : -chunk.window] @ values
    return y * empty.logical_not().to(y.dtype)


def _scores_of_first(
    group: HeadGroup, chunk: Chunk, r: Tensor | None, position_keys: Tensor | None
) -> Tensor:
    """Score the first keys for the queries that have them beyond the band: b g c n, else -inf."""
    first = group.first
    device = first.k.device
    q = chunk.of_block(first.q)
    k = first.k[:, chunk.streams].permute(1, 2, 3, 0)  # b g d n
    s = q @ k

    own = torch.arange(chunk.queries.start, chunk.queries.stop, device=device)
    # Where queries and first keys are in the stream: c and n; x: c n.
    place = first.keys - first.q.size(2) + own
    j = torch.arange(len(first.k), device=device)
    x = place[:, None] - j + group.attends_self
    if r is not None:
        W = position_keys.size(-1)
        beyond = position_keys[..., : first.columns]  # x = W .. reach
        # Key j counts as far - j away at most, and no nearer than where the band ends.
        nearer = torch.minimum(x, first.far - j)
        column = W - nearer.clamp(min(group.reach, W), W)
        by_distance = chunk.of_block(r) @ beyond
        s = s + by_distance.gather(-1, column.expand_as(s))
    # Keys within the band have their score there.
    return s.masked_fill(x <= group.reach, -math.inf)


def _content_scores(chunk: Chunk, q: Tensor, k: Tensor) -> Tensor:
    """Compute q k^T: n c (W + c - 1), contiguous, zeros before the stream's first key."""
    s = torch.bmm(chunk.of_queries(q), chunk.of_keys(k).mT)
    return pad(s, (chunk.missing, 0)) if chunk.missing else s


def _position_scores(chunk: Chunk, r: Tensor, position_keys: Tensor) -> Tensor:
    """Compute r p^T: n c W."""
    nearest = position_keys[..., position_keys.size(-1) - chunk.window :]
    return (chunk.of_block(r) @ nearest).flatten(0, 1)


def _masked(s: Tensor, log_m: Tensor | None, chunk: Chunk) -> Tensor:
    """Compute s + log m, -inf before the stream's first key: b g c W."""
    if log_m is not None:
        s = s + log_m
    if not chunk.missing:
        return s
    x = torch.arange(chunk.window, 0, -1, device=s.device)
    # how many keys there are for each query
    last = chunk.keys.stop + 1
    available = torch.arange(last - chunk.c, last, device=s.device)
    return s.masked_fill(x > available[:, None], -math.inf)


def _largest(s: Tensor, log_m: Tensor | None) -> Tensor:
    """Find the largest visible score of each row: b g c 1; one that is NaN, if any is.

    Adding log m = -inf made NaN of +inf and NaN at keys that are hidden: these become -inf, in
    place. That takes as long as a softmax, and is not done unless there are any.
    """
    most = s.amax(-1, keepdim=True)
    if log_m is None or (most < math.inf).all():
        return most
    in_band = s[..., s.size(-1) - log_m.size(-1) :]
    in_band.masked_fill_(log_m == -math.inf, -math.inf)
    return s.amax(-1, keepdim=True)


@contextmanager
def _substituted(parameters: tuple[Tensor, ...], *choices: nn.Module):
    """Let the choices compute with the parameters of some heads in place of their own.

    (`torch.func.functional_call` cannot be traced.) One thread at a time may compute with a layer.
    """
    modules = [module for choice in choices for module in choice.modules()]
    # In the order of `Module.parameters()`, in which the parameters were picked.
    owners = [(module, name) for module in modules for name in module._parameters]
    before = [module._parameters[name] for module, name in owners]
    try:
        for (module, name), parameter in zip(owners, parameters, strict=True):
            module._parameters[name] = parameter
        yield
    finally:
        for (module, name), parameter in zip(owners, before, strict=True):
            module._parameters[name] = parameter


def _unband(p: Tensor) -> Tensor:
    """Undo `band`: put .. c W onto zeros .. c (W + c - 1)."""
    *batch, c, W = p.shape
    width = W + c - 1
    # c zeros after each row, the last of them cut off: row i then begins i numbers further right
    padded = pad(p, (0, c)).flatten(-2)
    return padded[..., : c * width].view(*batch, c, width)
