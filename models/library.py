"""Attention for a net of one's own: `attention` of queries, keys and values, and a `layer` with its
projections.

A choice on an axis is a name, a mapping of its name and settings, {"name": "fixed", "limit": 64},
or a built choice.
"""

from typing import NamedTuple

from torch import Tensor

from .attention import formula
from .attention.choice import Choice, Shape
from .attention.engine.backend import Backend
from .attention.engine.engine import Engine, keys_of_queries
from .attention.engine.groups import BlockQueries, for_all_heads
from .attention.formula import Definition
from .attention.layers import CHOICES, StreamAttention, build_choice, check_unseen_keys

AnyChoice = str | dict | Choice
PLAIN = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}


def choices_of(shape: Shape, keys: int, **named: AnyChoice) -> dict[str, Choice]:
    """Build the choices of all axes. keys: what a full span caches.

    ValueError for an unknown axis, name or setting, and for a setting that is missing.
    """
    built = {}
    for axis, choice in (PLAIN | named).items():
        if isinstance(choice, Choice):
            if axis in ("selection", "normaliser"):
                check_unseen_keys(axis, type(choice).__name__, choice, shape)
            built[axis] = choice
            continue
        if not isinstance(choice, str | dict):
            raise ValueError(
                f"{axis} must be a name, a mapping of its name and settings or a choice, got {choice!r}"
            )
        settings = {"name": choice} if isinstance(choice, str) else dict(choice)
        if settings.get("name") not in CHOICES[axis]:
            raise ValueError(
                f"unknown {axis} '{settings.get('name')}'; valid: {', '.join(CHOICES[axis])}"
            )
        built[axis] = build_choice(
            axis, {"cache": keys} | settings if settings["name"] == "full" else settings, shape
        )
    return built


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    span: AnyChoice = "full",
    selection: AnyChoice = "all",
    normaliser: AnyChoice = "softmax",
    position: AnyChoice = "none",
    attends_self: bool = True,
    dropout: float = 0.0,
    definition: bool = False,
) -> Tensor:
    """Attend to the past: q: B h T dk, k: B g K dk, v: B g K dv, the last T of K the queries' own
    -> B h T dv.

    Tensors may be views of any strides. g: h, or fewer heads of keys and values that heads of
    queries share; nothing else is broadcast. Where T > K, the first T - K queries see no key and
    give 0. attends_self: whether a query sees the key at its own place. definition: compute every
    score in plain torch, slow and readable, in place of the engine; the numbers are the same.
    ValueError for shapes or types that do not fit, a choice that cannot be, or a span that follows
    the inputs of a layer (`layer` has them).
    """
    _check_fit(q, k, v, dropout)
    shape = Shape(q.size(1) * q.size(-1), q.size(1), q.size(-1), v.size(-1), k.size(1))
    named = {"span": span, "selection": selection, "normaliser": normaliser, "position": position}
    choices = {
        axis: choice.to(q) for axis, choice in choices_of(shape, max(1, k.size(2)), **named).items()
    }
    if choices["span"].follows_input:
        raise ValueError("a span that follows the input needs a layer's inputs; use `layer`")
    alone = _Alone(**choices, shape=shape, attends_self=attends_self, drop=dropout)
    limits = [choice.limit for choice in (alone.span, alone.position) if choice.limit is not None]
    # nothing, or what has nothing to see, is left to the definition
    if not definition and q.numel() and v.numel():
        return _by_engine(alone, q, k, v, min([*limits, k.size(2)]))
    k, v = (for_all_heads(each, shape, 1) for each in (k, v))
    z = alone.span.extent(None)
    return formula.attend(q, k, v, z, alone, reach=min([*limits, k.size(2)]), drop=dropout)


def _check_fit(q: Tensor, k: Tensor, v: Tensor, dropout: float) -> None:
    """Raise ValueError, the same for engine and definition, where q, k and v are not what
    `attention` takes.
    """
    fit = (
        q.dim() == k.dim() == v.dim() == 4
        and q.is_floating_point()
        and q.dtype == k.dtype == v.dtype
    )
    if fit and q.device == k.device == v.device:
        (B, h, _, dk), (_, g, K, _) = q.shape, k.shape
        fit = (
            k.shape == (B, g, K, dk)
            and v.shape == (B, g, K, v.size(3))
            and dk > 0
            and g > 0
            and h > 0
            and h % g == 0
        )
    else:
        fit = False
    if not fit:
        given = ", ".join(
            f"{name} {tuple(x.shape)} {x.dtype} on {x.device}"
            for name, x in (("q", q), ("k", k), ("v", v))
        )
        raise ValueError(
            f"shapes do not fit: {given}; valid: q B h T dk, k B g K dk, v B g K dv, g divides h"
        )
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be within 0 and 1, got {dropout}")


class _Alone(NamedTuple):
    """What the engine asks of a layer, without its projections."""

    span: Choice
    selection: Choice
    normaliser: Choice
    position: Choice
    shape: Shape
    attends_self: bool
    drop: float


def _by_engine(alone: _Alone, q: Tensor, k: Tensor, v: Tensor, bound: int) -> Tensor:
    T, K, z, heads = q.size(2), k.size(2), alone.span.extent(None), tuple(range(q.size(1)))
    reach = min(int(alone.span.reach(z).max()), bound, K - 1 + alone.attends_self)
    queries, backend, start = BlockQueries(alone, q, z, reach, K), Backend(), max(0, K - T - reach)
    rows = [each.permute(2, 0, 1, 3) for each in (k, v)]  # time first
    group, tensors = queries.of(
        heads, reach, *keys_of_queries(alone, *(each[start:] for each in rows), start)
    )
    if n := alone.span.first:
        group = queries.beside_first(
            group, heads, *keys_of_queries(alone, *(each[:n] for each in rows), 0)
        )
    q, _, _, v, position_keys, *_ = tensors
    return backend.attend(backend.choose(group, q, v, position_keys), group, *tensors)


def layer(
    d_model: int,
    heads: int,
    *,
    key_heads: int | None = None,
    keys: int = 1024,
    attends_self: bool = True,
    dropout: float = 0.0,
    definition: bool = False,
    **choices: AnyChoice,
) -> StreamAttention:
    """Make a layer over streams: `past = layer.start(B)`, then `y, past = layer(x, past)` for each
    block x: B T d.

    keys: how many a full span caches. choices: span, selection, normaliser, position. definition:
    as in `attention`.
    """
    shape = Shape(d_model, heads, key_heads=key_heads)
    unknown = sorted(set(choices) - set(PLAIN))
    if unknown:
        raise ValueError(f"unknown axis '{unknown[0]}'; valid: {', '.join(PLAIN)}")
    made = StreamAttention(
        shape,
        *choices_of(shape, keys, **choices).values(),
        attends_self=attends_self,
        dropout=dropout,
    )
    made.implementation = Definition() if definition else Engine()
    return made
