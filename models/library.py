"""Attention for your own model: `attention` of queries, keys and values, and a `layer` with its
projections.

A choice on an axis is a name, a mapping of its name and settings, {"name": "fixed", "limit": 64},
or a built choice.
"""

from torch import Tensor

from .attention import formula
from .attention.choice import Choice, Shape
from .attention.engine.engine import Engine
from .attention.formula import Definition
from .attention.layers import (
    AXES,
    CHOICES,
    StreamAttention,
    build_choice,
    check_unseen_keys,
    scaled_heads,
)
from .attention.variant import Choices, farthest, for_all_heads, stream_scales

AnyChoice = str | dict | Choice
PLAIN = {
    "span": "full",
    "selection": "all",
    "normaliser": "softmax",
    "position": "none",
    "score_scale": "none",
}


def choices_of(shape: Shape, keys: int, **named: AnyChoice) -> dict[str, Choice]:
    """Build the choices of all axes. keys: what a full span caches.

    ValueError for an unknown axis, name or setting, and for a setting that is missing.
    """
    named = PLAIN | named
    built = {}
    for axis in AXES:
        # A position says which heads a score scale may change; it comes before it in `AXES`.
        sizes = scaled_heads(shape, built["position"]) if axis == "score_scale" else shape
        built[axis] = _build(axis, named[axis], sizes, keys)
    return built


def _build(axis: str, choice: AnyChoice, shape: Shape, keys: int) -> Choice:
    if isinstance(choice, Choice):
        if axis in ("selection", "normaliser"):
            check_unseen_keys(axis, type(choice).__name__, choice, shape)
        return choice
    if not isinstance(choice, str | dict):
        raise ValueError(
            f"{axis} must be a name, a mapping of its name and settings or a choice, got {choice!r}"
        )
    settings = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = settings.get("name")
    if name not in CHOICES[axis]:
        raise ValueError(f"unknown {axis} '{name}'; valid: {', '.join(CHOICES[axis])}")
    # A full span caches as many keys as there are, unless its settings say otherwise.
    if name == "full":
        settings = {"cache": keys, **settings}
    return build_choice(axis, settings, shape)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    span: AnyChoice = "full",
    selection: AnyChoice = "all",
    normaliser: AnyChoice = "softmax",
    position: AnyChoice = "none",
    score_scale: AnyChoice = "none",
    attends_self: bool = True,
    dropout: float = 0.0,
    definition: bool = False,
) -> Tensor:
    """Attend to the past: q: B h T dk, k: B g K dk, v: B g K dv -> B h T dv.

    The last T of K keys are the queries' own. Tensors may be views of any strides. g: h, or fewer
    heads of keys and values that heads of queries share; nothing else is broadcast. Where T > K,
    the first T - K queries see no key and give 0. attends_self: whether a query sees the key at its
    own place. definition: compute every score in plain torch, slow and readable, in place of the
    engine; the numbers are the same. ValueError for shapes or types that do not fit, a choice that
    cannot be, or a span that follows the inputs of a layer (`layer` has them).
    """
    _check_fit(q, k, v, dropout)
    shape = Shape(
        d_model=q.size(1) * q.size(-1),
        heads=q.size(1),
        d_k=q.size(-1),
        d_v=v.size(-1),
        key_heads=k.size(1),
    )
    built = choices_of(
        shape,
        max(1, k.size(2)),
        span=span,
        selection=selection,
        normaliser=normaliser,
        position=position,
        score_scale=score_scale,
    )
    # To the device and type of q.
    moved = {axis: choice.to(q) for axis, choice in built.items()}
    if moved["span"].follows_input:
        raise ValueError("a span that follows the input needs a layer's inputs; use `layer`")
    if moved["score_scale"].follows_input:
        raise ValueError("a score scale that follows the input needs a layer's inputs; use `layer`")
    variant = Choices(**moved, shape=shape, attends_self=attends_self, drop=dropout)
    reach = farthest(variant, k.size(2))
    # An empty output, or one that sees nothing, is left to the definition.
    if not definition and q.numel() and v.numel():
        return Engine().attend_alone(variant, q, k, v, reach)
    s = stream_scales(variant, None, k.size(2), q.size(2), q.device)
    return formula.attend(
        q,
        for_all_heads(k, shape, 1),
        for_all_heads(v, shape, 1),
        variant.span.extent(None),
        variant,
        reach=reach,
        s=s,
        drop=dropout,
    )


def _check_fit(q: Tensor, k: Tensor, v: Tensor, dropout: float) -> None:
    """Raise ValueError, the same for engine and definition, where q, k and v are not what
    `attention` takes.
    """
    if not (_alike(q, k, v) and _sizes_fit(q, k, v)):
        given = []
        for name, x in (("q", q), ("k", k), ("v", v)):
            given.append(f"{name} {tuple(x.shape)} {x.dtype} on {x.device}")
        raise ValueError(
            f"shapes do not fit: {', '.join(given)}; "
            "valid: q B h T dk, k B g K dk, v B g K dv, g divides h"
        )
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be within 0 and 1, got {dropout}")


def _alike(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Say whether all have four axes, one floating-point type and one device."""
    return (
        q.dim() == k.dim() == v.dim() == 4
        and q.is_floating_point()
        and q.dtype == k.dtype == v.dtype
        and q.device == k.device == v.device
    )


def _sizes_fit(q: Tensor, k: Tensor, v: Tensor) -> bool:
    B, h, _, dk = q.shape
    _, g, K, _ = k.shape
    if min(dk, h, g) == 0 or h % g:
        return False
    return k.shape == (B, g, K, dk) and v.shape == (B, g, K, v.size(3))


def layer(
    d_model: int,
    heads: int,
    *,
    key_heads: int | None = None,
    gate: bool = False,
    keys: int = 1024,
    attends_self: bool = True,
    dropout: float = 0.0,
    definition: bool = False,
    **choices: AnyChoice,
) -> StreamAttention:
    """Make a layer over streams: `past = layer.start(B)`, then `y, past = layer(x, past)` for each
    block x: B T d.

    gate: whether its output passes through a gate. keys: how many a full span caches. choices: by
    axis, see `attention`. definition: as in `attention`.
    """
    shape = Shape(d_model, heads, key_heads=key_heads)
    unknown = sorted(set(choices) - set(PLAIN))
    if unknown:
        raise ValueError(f"unknown axis '{unknown[0]}'; valid: {', '.join(PLAIN)}")
    built = choices_of(shape, keys, **choices)
    made = StreamAttention(shape, **built, attends_self=attends_self, dropout=dropout, gate=gate)
    made.implementation = Definition() if definition else Engine()
    return made
