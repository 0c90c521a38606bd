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

QUERIES = 64  # c: at most c - 1 keys beside the band are multiplied in vain
LONG = 16  # twice as many where the band is this many times as wide: then it hardly shows
CHUNK_BYTES = 64 << 20  # of scores at a time


@dataclass(frozen=True)
class Chunk:
    """queries, streams, keys: slices of T, B and K. missing: columns of the scores before the
    stream's first key.
    """

    queries: slice
    streams: slice
    keys: slice
    missing: int
    window: int

    @property
    def c(self) -> int:
        return self.queries.stop - self.queries.start

    def of_queries(self, x: Tensor) -> Tensor:
        """Take the chunk of B g T d: n c d, where n counts streams x heads."""
        return x[self.streams, :, self.queries].flatten(0, 1)

    def of_keys(self, x: Tensor) -> Tensor:
        """View the chunk of K B g d: n k d."""
        return x[self.keys, self.streams].flatten(1, 2).transpose(0, 1)

    def by_head(self, x: Tensor) -> Tensor:
        """Part streams and heads again: n .. -> b g .."""
        return x.unflatten(0, (self.streams.stop - self.streams.start, -1))


def chunks(
    T: int, K: int, B: int, heads: int, reach: int, attends_self: bool, bytes_each: int
) -> Iterator[Chunk]:
    """Cut a block of T queries into chunks; the last T of K keys are the block's own, and none sees
    beyond `reach`.

    Where the queries of a chunk see no key at all, its window is the column x = 1, before the
    stream's first key.
    """
    step = QUERIES * (2 if reach >= LONG * QUERIES else 1)
    for start in range(0, T, step):
        queries = slice(start, min(start + step, T))
        c, seen = queries.stop - start, K - T + queries.stop - 1 + attends_self
        window = max(1, min(reach, seen))
        first = seen - (window + c - 1)
        b = max(1, CHUNK_BYTES // (heads * c * (window + c - 1) * bytes_each))
        for stream in range(0, B, b):
            streams = slice(stream, min(stream + b, B))
            yield Chunk(queries, streams, slice(max(0, first), seen), max(0, -first), window)


def band(scores: Tensor, window: int) -> Tensor:
    """View columns i .. i + W - 1 of each row i of contiguous (.. c, W + c - 1) scores as (.. c,
    W).

    Its row stride is one longer than the rows: nothing is copied to skew the scores or to undo it.
    """
    *batch, c, width = scores.shape
    return scores.as_strided(
        (*batch, c, window), (*scores.stride()[:-2], width + 1, 1), scores.storage_offset()
    )


def attend_band(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """Compute the outputs of a block of queries: B g T dv.

    q, r: B g T dk, content and position queries, over sqrt(dk); r is None without position keys. k:
    K B g dk and
    v: K B g dv, the last T the block's own. position_keys: dk W or g dk W, W at least the group's
    reach, the last column x = 1. z: the span's extent. parameters: of selection and normaliser, for
    these heads.
    """
    B, heads, T, _ = q.shape
    pieces = list(chunks(T, len(k), B, heads, group.reach, group.attends_self, q.element_size()))
    again, of_queries = torch.is_grad_enabled() and len(pieces) > 1, {}
    for chunk in pieces:
        given = (group, chunk, q, r, k, v, position_keys, z, *parameters)
        y = (
            checkpoint(_attend_chunk, *given, use_reentrant=False)
            if again
            else _attend_chunk(*given)
        )
        of_queries.setdefault(chunk.queries.start, []).append(y)
    return torch.cat([torch.cat(of_streams) for of_streams in of_queries.values()], 2)


def _attend_chunk(
    group: HeadGroup, chunk: Chunk, q, r, k, v, position_keys, z, *parameters
) -> Tensor:
    """Compute the outputs of a chunk: b g c dv."""
    s = band(_content_scores(chunk, q, k), chunk.window)
    s = chunk.by_head(s if r is None else s + _position_scores(chunk, r, position_keys))
    z = z[chunk.streams, :, chunk.queries] if z is not None and z.dim() == 4 else z
    log_m = group.span.log_mask(torch.arange(chunk.window, 0, -1, device=s.device), z)
    s = _masked(s, log_m, chunk)
    s = torch.cat([_scores_of_first(group, chunk, r, position_keys), s], -1) if group.first else s
    with torch.no_grad():
        empty = _largest(s, log_m) == -math.inf
        # -inf alone has no weights; those of this number are taken away again
        s[..., -1:].masked_fill_(empty, 0.0)
    with _substituted(parameters, group.selection, group.normaliser):
        p = dropout(group.normaliser(group.selection(s)), group.drop)
    in_band = _unband(p[..., s.size(-1) - chunk.window :]).flatten(0, 1)
    y = chunk.by_head(torch.bmm(in_band[..., chunk.missing :], chunk.of_keys(v)))
    if group.first:
        y = y + p[..., : -chunk.window] @ group.first.v[:, chunk.streams].permute(1, 2, 0, 3)
    return y * empty.logical_not().to(y.dtype)


def _scores_of_first(
    group: HeadGroup, chunk: Chunk, r: Tensor | None, position_keys: Tensor | None
) -> Tensor:
    """Score the first keys for the queries that have them beyond the band: b g c n, else -inf."""
    first, T = group.first, group.first.q.size(2)
    j = torch.arange(len(first.k), device=first.k.device)
    s = first.q[chunk.streams, :, chunk.queries] @ first.k[:, chunk.streams].permute(1, 2, 3, 0)
    place = first.keys - T + torch.arange(chunk.queries.start, chunk.queries.stop, device=j.device)
    x = place[:, None] - j + group.attends_self
    if r is not None:
        W, beyond = position_keys.size(-1), position_keys[..., : first.columns]  # x = W .. reach
        column = W - torch.minimum(x, first.far - j).clamp(min(group.reach, W), W)
        s = s + (r[chunk.streams, :, chunk.queries] @ beyond).gather(-1, column.expand_as(s))
    return s.masked_fill(x <= group.reach, -math.inf)


def _content_scores(chunk: Chunk, q: Tensor, k: Tensor) -> Tensor:
    """Compute q k^T: n c (W + c - 1), contiguous, zeros before the stream's first key."""
    s = torch.bmm(chunk.of_queries(q), chunk.of_keys(k).transpose(1, 2))
    return pad(s, (chunk.missing, 0)) if chunk.missing else s


def _position_scores(chunk: Chunk, r: Tensor, position_keys: Tensor) -> Tensor:
    """Compute r p^T: n c W."""
    nearest = position_keys[..., position_keys.size(-1) - chunk.window :]
    return (r[chunk.streams, :, chunk.queries] @ nearest).flatten(0, 1)


def _masked(s: Tensor, log_m: Tensor | None, chunk: Chunk) -> Tensor:
    """Compute s + log m, -inf before the stream's first key: b g c W."""
    s = s if log_m is None else s + log_m
    if chunk.missing:
        x = torch.arange(chunk.window, 0, -1, device=s.device)
        visible = torch.arange(chunk.keys.stop - chunk.c + 1, chunk.keys.stop + 1, device=s.device)[
            :, None
        ]
        s = s.masked_fill(x > visible, -math.inf)
    return s


def _largest(s: Tensor, log_m: Tensor | None) -> Tensor:
    """Find the largest visible score of each row: b g c 1; one that is NaN, if any is.

    Adding log m = -inf made NaN of +inf and NaN at keys that are hidden: these become -inf, in
    place. That takes as long as a softmax, and is not done unless there are any.
    """
    most = s.amax(-1, keepdim=True)
    if log_m is None or (most < math.inf).all():
        return most
    s[..., s.size(-1) - log_m.size(-1) :].masked_fill_(log_m == -math.inf, -math.inf)
    return s.amax(-1, keepdim=True)


@contextmanager
def _substituted(parameters: tuple[Tensor, ...], *choices: nn.Module):
    """Let the choices compute with the parameters of some heads in place of their own.

    (`torch.func.functional_call` cannot be traced.) One thread at a time may compute with a layer.
    """
    modules = [module for choice in choices for module in choice.modules()]
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
    return pad(p, (0, c)).flatten(-2)[..., : c * (W + c - 1)].view(*batch, c, W + c - 1)
