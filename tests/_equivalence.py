"""Layers of random choices, and whether an implementation gives the definition's numbers."""

from dataclasses import replace

import torch
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import (
    CHOICES,
    SequenceAttention,
    StreamAttention,
    build_choices,
)
from models.kernels.compiled.attention import NORMALISERS, SELECTIONS, SPANS
from tests._models import example

SMALL = Shape(6, 3, 2, 4)
COMPILED = {"span": SPANS, "selection": SELECTIONS, "normaliser": NORMALISERS}
NOT_COMPILED = {"adaptive_temperature"}  # in evaluation it reads the scores


def named(compiled: bool) -> dict[str, list[str]]:
    """List the choices by axis: all, or those that the compiled code knows."""
    names = {}
    for axis, choices in CHOICES.items():
        names[axis] = sorted(choices)
        if compiled:
            names[axis] = [name for name in names[axis] if is_compiled(axis, name)]
    return names


def is_compiled(axis: str, name: str) -> bool:
    """Whether the compiled code knows a choice; it knows all of an axis that it does not list."""
    if name in NOT_COMPILED:
        return False
    if axis not in COMPILED:
        return True
    kind = CHOICES[axis][name]
    return kind.kernel in COMPILED[axis]


def settings_of(axis: str, name: str, S: int, k: int) -> dict:
    """Return a choice's example, but with spans of at most S and k keys that are kept."""
    settings = example(axis, name)
    sizes = {
        "limit": S,
        "ramp": min(3, S),
        "cache": S,
        "k": k,
    }
    for key in settings.keys() & sizes.keys():
        settings[key] = sizes[key]
    return settings


def layer_of(names, S: int, k: int, attends_self: bool, seed: int, shape=SMALL) -> StreamAttention:
    """Make a layer over streams from a name on each axis."""
    return _anywhere(StreamAttention, names, S, k, seed, shape, attends_self=attends_self)


def sequence_layer(
    names, S: int, N: int, k: int, shape: Shape, reads_itself: bool, seed: int
) -> SequenceAttention:
    """Make a layer over sentences of N words; attention to a source has no distances."""
    if not reads_itself:
        names = ("full", *names[1:3], "none", *names[4:])
    if names[0] == "full":
        S = max(S, N)
    return _anywhere(SequenceAttention, names, S, k, seed, shape, reads_itself=reads_itself)


def _anywhere(kind: type, names, S: int, k: int, seed: int, shape: Shape, **settings):
    """Make a layer in 64 bits, its spans and alphas anywhere."""
    torch.manual_seed(seed)
    if "rotary" in names:  # it turns pairs of numbers
        shape = replace(shape, d_k=2 * shape.d_k)
    attention = {}
    padded = (*names, "none")
    for axis, name in zip(CHOICES, padded, strict=False):
        attention[axis] = settings_of(axis, name, S, k)
    choices = build_choices(attention, shape)
    layer = kind(shape, **choices, **settings)
    layer.double()
    for name, parameter in layer.named_parameters():
        if name.endswith(("fraction", "normaliser.a")):
            parameter.data.uniform_(0, 1)
        elif name.startswith("span."):
            parameter.data.normal_()
    return layer


def results(attend, layer, direction, *inputs) -> dict[str, torch.Tensor]:
    """Return attend(*inputs), and the gradients of the inputs and of the layer's parameters."""
    leaves = dict(layer.named_parameters())
    copies = []
    for number, each in enumerate(inputs):
        copy = each.clone().requires_grad_()
        copies.append(copy)
        leaves[f"input {number}"] = copy
    y = attend(*copies)
    weighted = y * direction
    gradients = torch.autograd.grad(
        weighted.sum(),
        list(leaves.values()),
        materialize_grads=True,
    )
    found = dict(zip(leaves, gradients, strict=True))
    found["y"] = y.detach()
    return found


def check_stream(layer, x, past, backend: str = "auto") -> None:
    """Hold the engine to the definition for a block x of a stream."""
    B, T, _ = x.shape
    shape = layer.shape
    direction = torch.randn(B, T, shape.heads, shape.d_v, dtype=x.dtype)

    def compute(implementation) -> dict[str, torch.Tensor]:
        def attend(x):
            y, _ = implementation.attend(layer, x, past)
            return y

        return results(attend, layer, direction, x)

    found = compute(Engine(backend))
    expected = compute(Definition())
    assert_close(found, expected)


def inputs(layer, T: int, M: int, B: int) -> tuple:
    """Draw a block x: B T d of a stream, and what was cached before it."""
    width = layer.shape.d_model
    x = torch.randn(B, T, width).double()
    cached = torch.randn(M, B, width).double()
    return x, (cached,)
