"""A group of heads by the compiled library: each head, and each of its queries, pays for its own
reach.

A choice that declares no `kernel`, or one that the library does not have, is computed by other
code.
"""

from functools import lru_cache

import torch
from torch import Tensor

from ...kernels.compiled import build
from ...kernels.compiled.attention import (
    CROSS,
    NORMALISERS,
    SELECTIONS,
    SENTENCE,
    SPANS,
    STREAM,
    Layout,
    Pattern,
    attend,
)
from ..choice import Shape
from .groups import HeadGroup, Operands
from .projections import by_head


def compiled_obstacle(choices: HeadGroup, x: Tensor) -> str | None:
    """Return why the library cannot compute these choices for inputs or queries x, or None.

    choices: those of a group or a layer.
    """
    if x.device.type != "cpu":
        return "it needs a CPU"
    if torch.is_autocast_enabled("cpu"):
        return "it supports only 32 and 64 bits"
    families = (
        (choices.span, SPANS),
        (choices.selection, SELECTIONS),
        (choices.normaliser, NORMALISERS),
    )
    for choice, known in families:
        if choice.kernel not in known:
            return f"it does not support {type(choice).__name__}"
    if choices.score_scale.changes_scores:
        return f"it has no scores that {type(choices.score_scale).__name__} could change"
    return build.obstacle(x.dtype)


def alpha_of(group: HeadGroup, parameters: list, like: Tensor) -> Tensor:
    """Return alpha of each head: H. The library reads it for alpha-entmax alone.

    parameters: of the group's normaliser, for its heads.
    """
    if parameters:
        return group.normaliser.alpha_from(*parameters).flatten()
    return _constant(getattr(group.normaliser, "alpha", 1.0), group.heads, like.dtype)


@lru_cache(maxsize=64)
def _constant(alpha: float, heads: int, dtype: torch.dtype) -> Tensor:
    return torch.full((heads,), alpha, dtype=dtype)


def attend_compiled(group: HeadGroup, operands: Operands) -> Tensor:
    """Compute what `band.attend_band` does."""
    q = operands.q
    alpha = alpha_of(group, operands.parameters, q)
    k = operands.k.permute(1, 2, 0, 3)  # K B g dk -> B g K dk
    v = operands.v.permute(1, 2, 0, 3)
    # All heads of a group have the same keys.
    counts = (k.size(2),) * group.heads
    pattern = pattern_of(group, counts, None, None, alpha)
    return attend(
        pattern=pattern,
        q=q,
        r=operands.r,
        k=k,
        v=v,
        p=operands.position_keys,
        z=operands.z,
        alpha=alpha,
    )


def attend_layer(
    group: HeadGroup, operands: Operands, shape: Shape, counts: tuple[int, ...]
) -> Tensor:
    """Attend in training with all heads of a layer -> B h T dv.

    operands: with the keys and values of `project_by_head`. Head i has those of its last counts[i]
    rows.
    """
    q = operands.q
    B = q.size(0)
    alpha = alpha_of(group, operands.parameters, q)
    pattern = pattern_of(
        group,
        counts,
        keys=by_head(counts, B, shape.d_k),
        values=by_head(counts, B, shape.d_v),
        alpha=alpha,
        scale=shape.d_k**-0.5,
    )
    return attend(
        pattern=pattern,
        q=q,
        r=operands.r,
        k=operands.k,
        v=operands.v,
        p=operands.position_keys,
        z=operands.z,
        alpha=alpha,
    )


def attend_sequence(
    group: HeadGroup, operands: Operands, visible: Tensor, reads_itself: bool
) -> Tensor:
    """Attend with all heads of a layer to a whole sequence, its own or another -> B h T dv.

    operands: with keys and values B h N d. visible: B N, False at padding, which is at the end.
    """
    q = operands.q
    N = operands.k.size(2)
    alpha = alpha_of(group, operands.parameters, q)
    position_keys = operands.position_keys
    if position_keys is not None:
        # x = W .. 1 .. W: words ahead are as far as those behind.
        ahead = position_keys[..., :-1].flip(-1)
        position_keys = torch.cat([position_keys, ahead], -1)
    pattern = pattern_of(
        group,
        counts=(N,) * group.heads,
        keys=None,
        values=None,
        alpha=alpha,
        kind=SENTENCE if reads_itself else CROSS,
        scale=q.size(-1) ** -0.5,
    )
    return attend(
        pattern=pattern,
        q=q,
        r=operands.r,
        k=operands.k,
        v=operands.v,
        p=position_keys,
        z=operands.z,
        alpha=alpha,
        lengths=visible.sum(1),
    )


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
    h = q.size(1)
    widest = position_keys.size(-1)
    pattern = Pattern(
        kind=STREAM,
        keys=(k.size(2),) * h,
        k=None,
        v=None,
        reach=min(int(reach.max()), widest),
        attends_self=attends_self,
        ramp=ramp or 0,
        limit=widest,
        drop=drop,
        seed=seed,
    )
    return attend(pattern, q, r, k, v, position_keys, z, q.new_ones(h))


def pattern_of(
    group: HeadGroup,
    counts: tuple[int, ...],
    keys: Layout | None,
    values: Layout | None,
    alpha: Tensor,
    kind: int = STREAM,
    scale: float = 1.0,
) -> Pattern:
    """Describe which keys the heads of a group see; counts: how many keys there are, by head."""
    return Pattern(
        kind=kind,
        keys=counts,
        k=keys,
        v=values,
        reach=group.reach,
        attends_self=group.attends_self,
        ramp=getattr(group.span, "ramp", 0),
        limit=group.span.limit or 0,
        kept=getattr(group.selection, "k", 0),
        normaliser=NORMALISERS[group.normaliser.kernel],
        learned_alpha=alpha.requires_grad,
        scale=scale,
        drop=group.drop,
        seed=group.seed,
    )
