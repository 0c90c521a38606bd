"""A group of heads by the compiled library: each head, and each of its queries, pays for its own
reach.

Which choices the library knows is written here; a choice that it does not know is computed by the
other code.
"""

from functools import lru_cache

import torch
from torch import Tensor

from ...kernels.compiled import build
from ...kernels.compiled.attention import (
    CROSS,
    ENTMAX,
    SENTENCE,
    SIGMOID,
    SOFTMAX_ONE,
    STREAM,
    Layout,
    Pattern,
    attend,
)
from ..choice import Shape
from ..normalisers.entmax15 import Entmax15
from ..normalisers.entmax_alpha import EntmaxAlpha
from ..normalisers.sigmoid import Sigmoid
from ..normalisers.softmax import Softmax
from ..normalisers.softmax_one import SoftmaxOne
from ..normalisers.sparsemax import Sparsemax
from ..selections.all import All
from ..selections.top_k import TopK
from ..spans.adaptive import Adaptive
from ..spans.dynamic import Dynamic
from ..spans.fixed import Fixed
from ..spans.full import Full
from .groups import HeadGroup
from .projections import by_head

ALPHA = {Softmax: 1.0, Entmax15: 1.5, Sparsemax: 2.0, EntmaxAlpha: None}  # None: learned, by head
OTHERS = {SoftmaxOne: SOFTMAX_ONE, Sigmoid: SIGMOID}
NORMALISERS = (*ALPHA, *OTHERS)
SPANS, SELECTIONS = (Full, Fixed, Adaptive, Dynamic), (All, TopK)


def compiled_obstacle(choices: HeadGroup, x: Tensor) -> str | None:
    """Return why the library cannot compute these choices of a group or a layer for inputs or
    queries x, or None.
    """
    if x.device.type != "cpu":
        return "it needs a CPU"
    if torch.is_autocast_enabled("cpu"):
        return "it supports only 32 and 64 bits"
    kinds = (
        (choices.span, SPANS),
        (choices.selection, SELECTIONS),
        (choices.normaliser, NORMALISERS),
    )
    for choice, known in kinds:
        if type(choice) not in known:
            return f"it does not support {type(choice).__name__}"
    return build.obstacle(x.dtype)


def alpha_of(normaliser, heads: int, parameters: list, like: Tensor) -> Tensor:
    """Return alpha of each head: H."""
    if (alpha := ALPHA.get(type(normaliser), 1.0)) is not None:
        return _constant(alpha, heads, like.dtype)
    return (1 + parameters[0].sigmoid()).flatten()


@lru_cache(maxsize=64)
def _constant(alpha: float, heads: int, dtype: torch.dtype) -> Tensor:
    return torch.full((heads,), alpha, dtype=dtype)


def attend_compiled(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """Compute what `band.attend_band` does."""
    alpha = alpha_of(group.normaliser, group.heads, parameters, q)
    k, v = (x.permute(1, 2, 0, 3) for x in (k, v))
    pattern = pattern_of(group, (k.size(2),) * group.heads, None, None, alpha)
    return attend(pattern, q, r, k, v, position_keys, z, alpha)


def attend_layer(group: HeadGroup, tensors: tuple, shape: Shape, counts: tuple[int, ...]) -> Tensor:
    """Attend in training with all heads of a layer -> B h T dv; head i has keys and values of its
    last counts[i] rows.

    tensors: of `BlockQueries.of`, with the keys and values of `project_by_head`.
    """
    q, r, k, v, position_keys, z, parameters = tensors
    alpha = alpha_of(group.normaliser, group.heads, parameters, q)
    layouts = [by_head(counts, q.size(0), width) for width in (shape.d_k, shape.d_v)]
    pattern = pattern_of(group, counts, *layouts, alpha, scale=shape.d_k**-0.5)
    return attend(pattern, q, r, k, v, position_keys, z, alpha)


def attend_sequence(
    group: HeadGroup, tensors: tuple, visible: Tensor, reads_itself: bool
) -> Tensor:
    """Attend with all heads of a layer to a whole sequence, its own or another -> B h T dv.

    tensors: of `BlockQueries.of`, keys and values B h N d. visible: B N, False at padding, which
    stands at the end.
    """
    q, r, k, v, position_keys, z, parameters = tensors
    alpha = alpha_of(group.normaliser, group.heads, parameters, q)
    if position_keys is not None:  # x = W .. 1 .. W
        position_keys = torch.cat([position_keys, position_keys[..., :-1].flip(-1)], -1)
    counts, kind = (k.size(2),) * group.heads, SENTENCE if reads_itself else CROSS
    pattern = pattern_of(group, counts, None, None, alpha, kind, q.size(-1) ** -0.5)
    return attend(pattern, q, r, k, v, position_keys, z, alpha, visible.sum(1))


def twin(
    q,
    r,
    k,
    v,
    position_keys,
    z,
    reach,
    *,
    ramp: int | None,
    attends_self: bool,
    drop: float,
    seed: int,
) -> Tensor:
    """Compute what `attend` of models/kernels/banded.py does, with its arguments, to be checked
    like it.
    """
    h, widest = q.size(1), position_keys.size(-1)
    bounds = (min(int(reach.max()), widest), attends_self, ramp or 0, widest)
    pattern = Pattern(STREAM, (k.size(2),) * h, None, None, *bounds, drop=drop, seed=seed)
    return attend(pattern, q, r, k, v, position_keys, z, q.new_ones(h))


def pattern_of(
    group: HeadGroup,
    counts,
    keys: Layout | None,
    values: Layout | None,
    alpha,
    kind=STREAM,
    scale=1.0,
) -> Pattern:
    """Describe which keys the heads of a group see; counts: how many keys there are, by head."""
    span, kept = group.span, getattr(group.selection, "k", 0)
    ramp, limit, learned = getattr(span, "ramp", 0), span.limit or 0, alpha.requires_grad
    bounds = (group.reach, group.attends_self, ramp, limit, kept)
    normaliser = OTHERS.get(type(group.normaliser), ENTMAX)
    return Pattern(
        kind, counts, keys, values, *bounds, normaliser, learned, scale, group.drop, group.seed
    )
