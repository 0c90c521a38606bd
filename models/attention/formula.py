"""The definition of attention, dense and readable: the oracle of every test.

    score  = position(q_t, k, x)          see positions/_position.py
    scaled = s(query) score                see score_scales/_score_scale.py
    masked = scaled + log m(x, query)
    kept   = select(masked)
    p      = normalise(kept)
    y_t    = sum p v

x = 1 is the nearest visible key. In a stream it is the token before the query, or the query's own
where a model attends to itself; in a sentence that attends to itself x = |t - j| + 1. Between two
sentences there is no x, and so neither span nor position.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import dropout, pad

from .variant import (
    Past,
    Variant,
    cached_length,
    farthest,
    for_all_heads,
    sequence_scales,
    stream_scales,
)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    z: Tensor | None,
    choices: Variant,
    *,
    reach: int,
    s: Tensor | None = None,
    drop: float = 0.0,
) -> Tensor:
    """Attend in a stream: q: B h T dk, k: B h K dk, v: B h K dv -> B h T dv.

    The last T of K keys are the block's own. z: the span's extent. reach: the most keys that a
    query sees. s: what multiplies the scores of each query, B h T 1 or h T 1. drop: dropout on the
    weights.
    """
    p = weights(q, k, z, choices, reach=reach, s=s)
    return dropout(p, drop) @ v


def weights(
    q: Tensor,
    k: Tensor,
    z: Tensor | None,
    choices: Variant,
    *,
    reach: int,
    s: Tensor | None = None,
) -> Tensor:
    """Weigh every key of a stream for every query: B h T K.

    Computes all T x K scores; `reach` only bounds the position keys that exist.
    """
    T = q.size(-2)
    K = k.size(-2)
    # The last T keys are the places of the queries.
    query = torch.arange(K - T, K, device=q.device)
    key = torch.arange(K, device=q.device)
    x = query[:, None] - key + choices.attends_self  # T K
    in_past = x >= 1
    return weigh(
        q,
        k,
        z,
        choices,
        visible=in_past,
        x=x,
        reach=min(reach, farthest(choices, K)),
        s=s,
    )


def weigh(
    q: Tensor,
    k: Tensor,
    z: Tensor | None,
    choices: Variant,
    visible: Tensor,
    x: Tensor | None,
    reach: int,
    s: Tensor | None = None,
    *,
    both_ways: bool = False,
) -> Tensor:
    """Weigh the visible keys that are at most `reach` away: B h T K.

    visible: bool, broadcasts to B h T K. x: T K, or None where keys have no distance. both_ways:
    whether x = |t - j| + 1; otherwise the last T of the keys are the queries' own. A query with
    no visible key, or whose visible scores are all -inf, has weights 0; one with a visible score of
    +inf or NaN has weights NaN, so that a run which diverges shows it. s: what multiplies the
    scores of each query.
    """
    if x is None:
        # Between two sentences: content alone.
        d_k = q.size(-1)
        scaled = q if s is None else q * s
        masked = scaled @ k.mT / math.sqrt(d_k)
    else:
        is_near = x <= reach
        first = choices.span.first
        if first:
            key = torch.arange(x.size(-1), device=x.device)
            is_near = is_near | (key < first)
        visible = visible & is_near
        masked = _score(q, k, choices, x, reach, s, both_ways=both_ways)
        # The future has no m: its x is below 1, and it is hidden already.
        log_m = choices.span.log_mask(x.clamp(min=1), z)
        if log_m is not None:
            masked = masked + log_m
            # Whatever the score of a hidden key, +inf or NaN too.
            visible = visible & (log_m != -math.inf)
    masked = masked.masked_fill(~visible, -math.inf)
    masked = choices.score_scale.of_scores(masked)
    if not masked.size(-1):  # rows of no keys have no largest score
        return masked

    # A row of -inf alone would give NaN: it is weighed as a row of zeros, and then set to 0.
    is_hidden = masked.detach().isneginf()
    empty = is_hidden.all(-1, keepdim=True)  # B h T 1
    filled = masked.masked_fill(empty, 0.0)
    kept = choices.selection(filled)
    p = choices.normaliser(kept)
    return p.masked_fill(empty, 0.0)


def _score(
    q: Tensor,
    k: Tensor,
    choices: Variant,
    x: Tensor,
    reach: int,
    s: Tensor | None,
    *,
    both_ways: bool,
) -> Tensor:
    """Score keys by content and place, times s: B h T K.

    The first keys of a stream count as no farther than just beyond the reach: see `Span.first`.
    """
    position = choices.position
    first = choices.span.first
    T = q.size(-2)
    K = k.size(-2)
    d_k = q.size(-1)
    place = torch.arange(K, device=k.device)
    # Below 0 for queries before the first key, where there are more queries than keys.
    own = torch.arange(K - T, K, device=k.device)

    # 1. Content: the first n keys apart from the others, B h T n and B h T (K - n).
    content = position.content(q)
    if s is not None:
        content = content * s
    keys = position.turn(k, place)
    turned = position.turn(content, own)
    if not first:
        score = turned @ keys.mT
    else:
        to_first = _score_first(content, keys[..., :first, :], choices, own, reach)
        to_others = turned @ keys[..., first:, :].mT
        score = torch.cat([to_first, to_others], -1)
        # Distance, as it counts for positions: T K.
        nearer = x.clamp(max=reach + first - place)
        x = torch.where(place < first, nearer, x)
    # The farthest x for which a position is asked.
    far = reach + first
    if position.limit is not None:
        far = min(far, position.limit)

    # 2. Position: a column for each x = far .. 1; every key takes its own.
    position_keys = position.keys(far)
    if position_keys is not None:
        query = position.query(q)
        if s is not None:
            query = query * s
        by_distance = query @ position_keys  # B h T far
        score = score + _by_key(by_distance, choices, x, first, both_ways)
    score = score / math.sqrt(d_k)

    # 3. Bias: not over sqrt(dk).
    bias = position.bias(x.clamp(1, far))
    if bias is None:
        return score
    return score + bias.to(score.dtype)


def _by_key(
    by_distance: Tensor, choices: Variant, x: Tensor, first: int, both_ways: bool
) -> Tensor:
    """Let every key take the number of its distance: B h T far -> B h T K.

    The columns are x = far .. 1. A key that no query may see takes 0.
    """
    T, K = x.shape
    far = by_distance.size(-1)
    if both_ways:
        # From key t - far + 1 on: x = far .. 1 up to the query's own place, then 2 .. far.
        after = by_distance[..., :-1].flip(-1)
        rows = torch.cat([by_distance, after], -1)
        by_key = lay_out(rows, 1 - far, K)
    else:
        # Query t has x = 1 at the key before its own place, or at that place.
        nearest = K - T - 1 + choices.attends_self
        by_key = lay_out(by_distance, nearest - (far - 1), K)
    if not first:
        return by_key
    # The first keys have other distances: see `_score`.
    column = (far - x[:, :first]).clamp(0, far - 1)
    of_first = by_distance.gather(-1, column.expand(*by_distance.shape[:-1], -1))
    return torch.cat([of_first, by_key[..., first:]], -1)


def skew(rows: Tensor) -> Tensor:
    """Move row i of .. c W by i columns to the right: .. c (W + c - 1), zeros elsewhere."""
    *batch, c, W = rows.shape
    width = W + c - 1
    # With c zeros after each row, rows are one longer than `width`: cut anew at `width`, row i
    # begins i numbers further right. The last c zeros are too many.
    in_a_row = pad(rows, (0, c)).flatten(-2)
    used = in_a_row[..., : c * width]
    return used.view(*batch, c, width)


def lay_out(rows: Tensor, start: int, K: int) -> Tensor:
    """Lay out .. T W by key: .. T K, row t from key `start` + t on, zeros elsewhere.

    What would lie outside the keys 0 .. K - 1 is cut off.
    """
    skewed = skew(rows)
    after = K - start - skewed.size(-1)
    return pad(skewed, (start, after))


def _score_first(
    content: Tensor, keys: Tensor, choices: Variant, own: Tensor, reach: int
) -> Tensor:
    """Score the first n keys by content: B h T n.

    keys: B h n dk, turned as their places say; own: the queries' places, T. Key j is at most
    reach + n - j far. A query behind the keys moves near them, to one place for all; one before
    them, in a sentence, to a place for each key.
    """
    turn = choices.position.turn
    count = keys.size(-2)
    most = reach + choices.span.first
    # The greatest place of a query: where t - j + attends_self = reach + n - j.
    behind = most - int(choices.attends_self)
    # The least place of a query for each key: where j - t + 1 = reach + n - j.
    before = [2 * j + 1 - most for j in range(count)]
    # In a stream, no query is that far before a key.
    if max(before, default=0) <= 0:
        moved = turn(content, own.clamp(max=behind))
        return moved @ keys.mT
    columns = []
    for j, least in enumerate(before):
        moved = turn(content, own.clamp(least, behind))
        key = keys[..., [j], :]  # B h 1 dk
        columns.append(moved @ key.mT)
    return torch.cat(columns, -1)


class Definition:
    """Computes `StreamAttention` and `SequenceAttention` by the formula; `Engine` is faster."""

    def __init__(self, keys: int | None = None):
        """Let a query of a stream meet `keys` keys at most; unless given, all that it sees."""
        self.keys = keys

    def start(self, layer, batch: int) -> Past:
        """Make the cache of streams that have not begun: no inputs, 0 B d."""
        weight = layer.key.weight
        return (weight.new_empty(0, batch, layer.shape.d_model),)

    def attend(self, layer, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cached inputs -> B T h dv, and the next cache.

        The output is that before the layer's output projection.
        """
        (inputs,) = past
        reach = farthest(layer, len(inputs) + x.size(1))
        if self.keys is not None:
            reach = min(reach, self.keys)
        return attend_block(layer, x, past, reach)

    def attend_sequence(
        self, layer, x: Tensor, projected: tuple[Tensor, Tensor, Tensor], visible: Tensor
    ) -> Tensor:
        """Attend to a whole sequence -> B h T dv before the output projection.

        x: B T d; projected: queries B h T dk, keys and values B h N d; visible: B N, False at
        padding.
        """
        q, k, v = projected
        visible = visible[:, None, None]  # B 1 1 N, for every head and query
        distance = None
        reach = farthest(layer, k.size(-2)) if layer.reads_itself else k.size(-2)
        s = sequence_scales(layer, x, visible[:, 0, 0], reach)
        if layer.reads_itself:
            # Both directions: |t - j| + 1, so that a word is at x = 1 of itself.
            index = torch.arange(k.size(-2), device=x.device)
            apart = index[:, None] - index  # T N
            distance = apart.abs() + 1
            # Padding sees nothing: B 1 N N.
            visible = visible & visible.transpose(-1, -2)
        z = layer.span.extent(x)
        p = weigh(q, k, z, layer, visible, distance, reach, s, both_ways=layer.reads_itself)
        return dropout(p, layer.drop) @ v


def attend_block(
    layer, x: Tensor, past: Past, reach: int, attend: Callable[..., Tensor] = attend
) -> tuple[Tensor, Past]:
    """Attend with x: B T d and the cached inputs K B d -> B T h dv, and the next cache.

    reach: the most keys that a query sees. attend: this formula, or what gives its numbers.
    """
    (inputs,) = past
    T = x.size(1)
    rows = torch.cat([inputs.to(x.dtype), x.transpose(0, 1)])
    seen = layer.span.keep(rows, reach + T)  # K B d

    # Projected anew at every block, with the weights of this step.
    q = layer.split(layer.query(x)).contiguous()  # copied once, though two products read it
    # Time first, streams and heads next to one another: the products copy neither.
    k, v = (each.transpose(0, 2) for each in layer.project(seen))
    k = for_all_heads(k, layer.shape, 1)
    v = for_all_heads(v, layer.shape, 1)
    z = layer.span.extent(x)
    s = stream_scales(layer, x, len(seen), T, x.device)
    y = attend(
        q,
        k,
        v,
        z,
        choices=layer,
        reach=reach,
        s=s,
        drop=layer.drop,
    )

    # No gradient goes into the past.
    length = cached_length(layer, reach)
    next_past = layer.span.keep(rows.detach(), length)
    return y.transpose(1, 2), (next_past,)
