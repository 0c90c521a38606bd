"""The same numbers as the definition without computing what `reach` rules out.

Queries are taken in chunks of c. A chunk whose heads reach W keys back multiplies against W + c - 1 keys, and only
the band of W keys that each query may see goes on: row i holds x = W .. 1. The band is a view of the score matrix
whose row stride is one longer than its rows, so nothing is copied to skew it.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import dropout, pad

CHUNK = 128  # queries at a time: products stay large, and at most c - 1 keys beside the band are multiplied in vain


def attend(q: Tensor, k: Tensor, v: Tensor, z: Tensor | None, choices, *, reach: int, drop: float = 0.0) -> Tensor:
    """As `formula.attend`: q: B h T dk, k: B h K dk, v: B h K dv, of which the last T are the block's own."""
    T, K = q.size(-2), k.size(-2)
    widest = min(reach, K - 1 + choices.attends_self)
    places = choices.position.keys(widest) if widest else None
    parts = []
    for start in range(0, T, CHUNK):
        stop = min(start + CHUNK, T)
        seen = K - T + stop - 1 + choices.attends_self  # keys visible to the chunk's last query
        here = z[:, :, start:stop] if z is not None and z.dim() == 4 else z
        parts.append(_chunk(q[:, :, start:stop], k, v, here, places, choices, seen, min(reach, seen), drop))
    return parts[0] if len(parts) == 1 else torch.cat(parts, -2)


def _chunk(q, k, v, z, places, choices, seen: int, window: int, drop: float) -> Tensor:
    """One chunk of c queries, the last of which sees the first `seen` keys; nobody sees beyond `window`."""
    if window == 0:
        return q.new_zeros(*q.shape[:-1], v.size(-1))
    c = q.size(-2)
    first = seen - (window + c - 1)
    missing, first = max(0, -first), max(0, first)  # the stream may have begun after the band's first column
    content = choices.position.content(q) @ k[:, :, first:seen].transpose(-1, -2)
    score = band(pad(content, (missing, 0)) if missing else content, window)
    if places is not None:
        score = score + choices.position.query(q) @ places[..., -window:]
    score = score / math.sqrt(q.size(-1))
    x = torch.arange(window, 0, -1, device=q.device)
    log_m = choices.span.log_mask(x, z)
    masked = score if log_m is None else score + log_m
    if missing:
        masked = masked.masked_fill(_before_the_stream(x, c, seen), -math.inf)
    p = choices.normaliser(choices.selection(masked))
    return unband(dropout(p, drop))[..., missing:] @ v[:, :, first:seen]


def _before_the_stream(x: Tensor, c: int, seen: int) -> Tensor:
    """True where a query's key lies before the stream's start: (c, W).

    A query that sees no key at all keeps x = 1, a column that has no value, and so gives 0.
    """
    visible = torch.arange(seen - c + 1, seen + 1, device=x.device)[:, None]
    return x > visible.clamp(min=1)


def band(scores: Tensor, window: int) -> Tensor:
    """Columns i .. i + W - 1 of each row i of a (.. c, W + c - 1) matrix, as a view (.. c, W)."""
    *batch, c, width = scores.shape
    scores = scores.contiguous()
    return scores.as_strided((*batch, c, window), (*scores.stride()[:-2], width + 1, 1))


def unband(weights: Tensor) -> Tensor:
    """The transpose of `band`: (.. c, W) onto zeros (.. c, W + c - 1)."""
    *batch, c, window = weights.shape
    flat = pad(weights, (0, c)).flatten(-2)
    return flat[..., : c * (window + c - 1)].view(*batch, c, window + c - 1)
