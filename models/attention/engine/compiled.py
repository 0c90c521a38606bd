"""A group of heads by the compiled library: each head, and each of its queries, pays for its own reach.

Which choices the library knows is written here; a choice that it does not know is computed by the other code.
"""

from functools import lru_cache

import torch
from torch import Tensor

from models.attention.choice import Shape
from models.attention.engine.projections import by_head
from models.attention.engine.queries import HeadGroup
from models.attention.normalisers.entmax15 import Entmax15
from models.attention.normalisers.entmax_alpha import EntmaxAlpha
from models.attention.normalisers.softmax import Softmax
from models.attention.normalisers.sparsemax import Sparsemax
from models.attention.selections.all import All
from models.attention.selections.top_k import TopK
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.attention.spans.full import Full
from models.kernels.compiled import build
from models.kernels.compiled.attention import CROSS, SENTENCE, STREAM, Layout, Sight, attend

ALPHA = {Softmax: 1.0, Entmax15: 1.5, Sparsemax: 2.0, EntmaxAlpha: None}  # None: learned, by head
SPANS, SELECTIONS = (Full, Fixed, Adaptive, Dynamic), (All, TopK)


def compiled_obstacle(choices: HeadGroup, x: Tensor) -> str | None:
    """Why the library cannot compute a group or a layer of these choices, for inputs or queries x."""
    if x.device.type != "cpu":
        return "it needs a CPU"
    if torch.is_autocast_enabled("cpu"):
        return "it computes in 32 and 64 bits"
    kinds = ((choices.span, SPANS), (choices.selection, SELECTIONS), (choices.normaliser, ALPHA))
    for choice, known in kinds:
        if type(choice) not in known:
            return f"it does not know {type(choice).__name__}"
    return build.obstacle(x.dtype)


def alpha_of(normaliser, heads: int, parameters: list, like: Tensor) -> Tensor:
    """alpha of each head, H."""
    if (alpha := ALPHA[type(normaliser)]) is not None:
        return _constant(alpha, heads, like.dtype)
    return (1 + parameters[0].sigmoid()).flatten()


@lru_cache(maxsize=64)
def _constant(alpha: float, heads: int, dtype: torch.dtype) -> Tensor:
    return torch.full((heads,), alpha, dtype=dtype)


def time_first(x: Tensor) -> Layout:
    """Of K B g d."""
    _, stream, head, _ = x.stride()
    g = x.size(2)
    return Layout(x.size(3), tuple(head * index for index in range(g)), (stream,) * g, (x.stride(0),) * g)


def attend_compiled(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `band.attend_band`."""
    alpha = alpha_of(group.normaliser, group.heads, parameters, q)
    sight = sight_of(group, (len(k),) * group.heads, time_first(k), time_first(v), alpha)
    return attend(sight, q, r, k, v, position_keys, z, alpha)


def attend_layer(group: HeadGroup, tensors: tuple, shape: Shape, counts: tuple[int, ...]) -> Tensor:
    """All heads of a layer in training, y: B h T dv; head i has keys and values of its own last counts[i] rows.

    tensors: of `BlockQueries.of`, with the keys and values of `project_by_head`.
    """
    q, r, k, v, position_keys, z, parameters = tensors
    alpha = alpha_of(group.normaliser, group.heads, parameters, q)
    layouts = [by_head(counts, q.size(0), width) for width in (shape.d_k, shape.d_v)]
    sight = sight_of(group, counts, *layouts, alpha, scale=shape.d_k**-0.5)
    return attend(sight, q, r, k, v, position_keys, z, alpha)


def attend_sequence(group: HeadGroup, tensors: tuple, visible: Tensor, reads_itself: bool) -> Tensor:
    """All heads of a layer that reads a whole sequence, itself or another, y: B h T dv.

    tensors: of `BlockQueries.of`, keys and values B h N d. visible: B N, False at padding, which stands at the end.
    """
    q, r, k, v, position_keys, z, parameters = tensors
    alpha, k, v = alpha_of(group.normaliser, group.heads, parameters, q), side_by_side(k), side_by_side(v)
    if position_keys is not None:  # x = W .. 1 .. W
        position_keys = torch.cat([position_keys, position_keys[..., :-1].flip(-1)], -1)
    counts, kind = (k.size(2),) * group.heads, SENTENCE if reads_itself else CROSS
    sight = sight_of(group, counts, rows_first(k), rows_first(v), alpha, kind, q.size(-1) ** -0.5)
    return attend(sight, q, r, k, v, position_keys, z, alpha, visible.sum(1))


def twin(
    q, r, k, v, position_keys, z, reach, *, ramp: int | None, attends_self: bool, drop: float, seed: int
) -> Tensor:
    """Called as `models/kernels/banded.py`'s `attend`, for the check against the definition."""
    h, widest, k, v = q.size(1), position_keys.size(-1), side_by_side(k), side_by_side(v)
    sight = Sight(
        STREAM,
        (k.size(2),) * h,
        rows_first(k),
        rows_first(v),
        min(int(reach.max()), widest),
        attends_self,
        ramp or 0,
        widest,
        drop=drop,
        seed=seed,
    )
    return attend(sight, q, r, k, v, position_keys, z, q.new_ones(h))


def side_by_side(x: Tensor) -> Tensor:
    """B h N d, its numbers side by side, by head or by row first; copied where they are not."""
    return x if x.is_contiguous() or x.transpose(1, 2).is_contiguous() else x.contiguous()


def rows_first(x: Tensor) -> Layout:
    """Of B h N d."""
    stream, head, row, _ = x.stride()
    h = x.size(1)
    return Layout(x.size(3), tuple(head * index for index in range(h)), (stream,) * h, (row,) * h)


def sight_of(
    group: HeadGroup,
    counts: tuple[int, ...],
    keys: Layout,
    values: Layout,
    alpha: Tensor,
    kind: int = STREAM,
    scale: float = 1.0,
) -> Sight:
    """What the heads of a group see."""
    ramp, limit = (getattr(group.span, "ramp", 0), group.span.limit or 0)
    return Sight(
        kind,
        counts,
        keys,
        values,
        group.reach,
        group.attends_self,
        ramp,
        limit,
        getattr(group.selection, "k", 0),
        alpha.requires_grad,
        scale,
        group.drop,
        group.seed,
    )
