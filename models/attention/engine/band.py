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

from ..formula import skew
from .groups import HeadGroup, Operands

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
    is_wide = reach >= LONG * QUERIES
    step = 2 * QUERIES if is_wide else QUERIES
    for start in range(0, T, step):
        stop = min(start + step, T)
        c = stop - start
        # Keys up to the one that the last query sees.
        last_query = K - T + stop - 1
        seen = last_query + attends_self
        window = max(1, min(reach, seen))
        # Columns of all queries together; the first may lie before the stream's first key.
        width = window + c - 1
        first = seen - width
        # As many streams as fit into the bytes of a chunk.
        bytes_of_stream = heads * c * width * bytes_each
        b = max(1, CHUNK_BYTES // bytes_of_stream)
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
    *strides_of_batch, _, _ = scores.stride()
    # Row i begins one column further right than row i - 1.
    return scores.as_strided(
        size=(*batch, c, window),
        stride=(*strides_of_batch, width + 1, 1),
        storage_offset=scores.storage_offset(),
    )


def attend_band(group: HeadGroup, operands: Operands) -> Tensor:
    """Compute the outputs of a block of queries: B g T dv."""
    q = operands.q
    B, heads, T, _ = q.shape
    pieces = list(
        chunks(
            T=T,
            K=len(operands.k),
            B=B,
            heads=heads,
            reach=group.reach,
            attends_self=group.attends_self,
            bytes_each=q.element_size(),
        )
    )
    # One chunk keeps its scores for the backward pass; of several, those of all would be too many.
    again = torch.is_grad_enabled() and len(pieces) > 1
    # By the first query of a chunk: the outputs of each group of streams, b g c dv.
    of_queries: dict[int, list[Tensor]] = {}
    # As arguments of their own, for `checkpoint` looks among these for the device whose random
    # numbers it has to repeat.
    tensors = (
        q,
        operands.r,
        operands.k,
        operands.v,
        operands.position_keys,
        operands.z,
        *operands.parameters,
    )
    for chunk in pieces:
        if again:
            y = checkpoint(_attend_chunk, group, chunk, *tensors, use_reentrant=False)
        else:
            y = _attend_chunk(group, chunk, *tensors)
        start = chunk.queries.start
        of_queries.setdefault(start, []).append(y)
    of_all_streams = [torch.cat(of_streams) for of_streams in of_queries.values()]
    return torch.cat(of_all_streams, 2)


def _attend_chunk(
    group: HeadGroup, chunk: Chunk, q, r, k, v, position_keys, z, *parameters
) -> Tensor:
    """Compute the outputs of a chunk: b g c dv."""
    by_key = _content_scores(chunk, q, k)  # n c (W + c - 1)
    s = band(by_key, chunk.window)  # n c W
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
        empty = _largest(s, log_m) == -math.inf  # b g c 1
        s[..., -1:].masked_fill_(empty, 0.0)
    with _substituted(parameters, group.selection, group.normaliser):
        scaled = group.score_scale.of_scores(s)
        kept = group.selection(scaled)
        p = dropout(group.normaliser(kept), group.drop)

    # The stream's first keys, where every query sees them, are the columns before the band.
    in_band = p[..., s.size(-1) - chunk.window :]
    by_key = skew(in_band).flatten(0, 1)  # n c (W + c - 1)
    # Columns before the first key of the stream have no values.
    with_values = by_key[..., chunk.missing :]
    y = torch.bmm(with_values, chunk.of_keys(v))  # n c dv
    y = chunk.by_head(y)
    if group.first:
        of_first = p[..., : -chunk.window]
        values = group.first.v[:, chunk.streams].permute(1, 2, 0, 3)  # b g n dv
        y = y + of_first @ values
    sees_any = empty.logical_not().to(y.dtype)
    return y * sees_any


def _scores_of_first(
    group: HeadGroup, chunk: Chunk, r: Tensor | None, position_keys: Tensor | None
) -> Tensor:
    """Score the first keys for the queries that have them beyond the band: b g c n, else -inf."""
    first = group.first
    device = first.k.device
    q = chunk.of_block(first.q)
    k = first.k[:, chunk.streams].permute(1, 2, 3, 0)  # b g d n
    s = q @ k

    # Where queries and first keys are in the stream: c and n; x: c n.
    own = torch.arange(chunk.queries.start, chunk.queries.stop, device=device)
    before_block = first.keys - first.q.size(2)
    place = before_block + own
    j = torch.arange(len(first.k), device=device)
    x = place[:, None] - j + group.attends_self
    if r is not None:
        W = position_keys.size(-1)
        beyond = position_keys[..., : first.columns]  # x = W .. reach
        # Key j counts as far - j away at most, and no nearer than where the band ends.
        nearer = torch.minimum(x, first.far - j)
        distance = nearer.clamp(min(group.reach, W), W)
        column = W - distance
        by_distance = chunk.of_block(r) @ beyond  # b g c columns
        s = s + by_distance.gather(-1, column.expand_as(s))
    # Keys within the band have their score there.
    return s.masked_fill(x <= group.reach, -math.inf)


def _content_scores(chunk: Chunk, q: Tensor, k: Tensor) -> Tensor:
    """Compute q k^T: n c (W + c - 1), contiguous, zeros before the stream's first key."""
    keys = chunk.of_keys(k)
    s = torch.bmm(chunk.of_queries(q), keys.mT)
    if not chunk.missing:
        return s
    return pad(s, (chunk.missing, 0))


def _position_scores(chunk: Chunk, r: Tensor, position_keys: Tensor) -> Tensor:
    """Compute r p^T: n c W."""
    W = position_keys.size(-1)
    nearest = position_keys[..., W - chunk.window :]
    by_head = chunk.of_block(r) @ nearest  # b g c W
    return by_head.flatten(0, 1)


def _masked(s: Tensor, log_m: Tensor | None, chunk: Chunk) -> Tensor:
    """Compute s + log m, -inf before the stream's first key: b g c W."""
    if log_m is not None:
        s = s + log_m
    if not chunk.missing:
        return s
    x = torch.arange(chunk.window, 0, -1, device=s.device)
    # How many keys there are for each query: one more for each, all of them for the last.
    beyond = chunk.keys.stop + 1
    available = torch.arange(beyond - chunk.c, beyond, device=s.device)
    return s.masked_fill(x > available[:, None], -math.inf)


def _largest(s: Tensor, log_m: Tensor | None) -> Tensor:
    """Find the largest visible score of each row: b g c 1; one that is NaN, if any is.

    Adding log m = -inf made NaN of +inf and NaN at keys that are hidden: these become -inf, in
    place. That takes as long as a softmax, and a CPU does not do it unless there are any; a GPU
    takes longer to tell.
    """
    most = s.amax(-1, keepdim=True)
    if log_m is None:
        return most
    if s.device.type == "cpu" and (most < math.inf).all():
        return most
    hidden = log_m == -math.inf
    in_band = s[..., s.size(-1) - log_m.size(-1) :]
    in_band.masked_fill_(hidden, -math.inf)
    return s.amax(-1, keepdim=True)


@contextmanager
def _substituted(parameters: tuple[Tensor, ...], *choices: nn.Module):
    """Let the choices compute with the parameters of some heads in place of their own.

    (`torch.func.functional_call` cannot be traced.) One thread at a time may compute with a layer.
    """
    # In the order of `Module.parameters()`, in which the parameters were picked.
    owners = []
    before = []
    for choice in choices:
        for module in choice.modules():
            for name, parameter in module._parameters.items():
                owners.append((module, name))
                before.append(parameter)

    def substitute(numbers) -> None:
        for (module, name), parameter in zip(owners, numbers, strict=True):
            module._parameters[name] = parameter

    try:
        substitute(parameters)
        yield
    finally:
        substitute(before)
