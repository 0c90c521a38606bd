"""What of a layer decides how a twin of the definition computes it, with inputs to check it and their numbers."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from models.attention import formula
from models.attention.choice import Shape
from models.attention.engine.backend import kernel_obstacle
from models.attention.normalisers.softmax import Softmax
from models.attention.selections.all import All
from models.attention.spans._span import Span
from models.attention.spans.fixed import Fixed
from models.attention.spans.full import Full

STREAMS, BEYOND = 2, 43  # B, and the keys beyond the ramp


@dataclass(frozen=True)
class Case:
    """span: a kind of span; ramp: its R, None for a fixed one. drop: dropout on the weights."""

    shape: Shape
    span: type[Span]
    ramp: int | None
    attends_self: bool
    drop: float = 0.0

    @property
    def limit(self) -> int:
        """S of the inputs."""
        return BEYOND + (self.ramp or 0)

    def span_of(self) -> Span:
        settings = {} if self.ramp is None else {"ramp": self.ramp}
        return self.span(self.shape, limit=self.limit, **settings)


def cases_of(layer) -> set[Case]:
    """The cases of a layer over streams, in training and in evaluation; none where the kernel is not made for it."""
    if kernel_obstacle(layer, layer.position.needs_distance, layer.shape.d_k, layer.shape.d_v):
        return set()
    span, ramp = Fixed if isinstance(layer.span, Full) else type(layer.span), getattr(layer.span, "ramp", None)
    return {Case(layer.shape, span, ramp, layer.attends_self, drop) for drop in (0.0, layer.dropout)}


class _Position(NamedTuple):
    """Position queries and keys that are given."""

    r: Tensor
    position_keys: Tensor

    def content(self, q: Tensor) -> Tensor:
        return q

    def query(self, q: Tensor) -> Tensor:
        return self.r

    def keys(self, window: int) -> Tensor:
        return self.position_keys[..., -window:]


class _Choices(NamedTuple):
    position: _Position
    span: Span
    selection: All
    normaliser: Softmax
    attends_self: bool


def definition(case: Case, factors: Tensor | float, q, r, k, v, position_keys, z=None) -> Tensor:
    """y by the formula: B h T dv. q, r: over sqrt(dk). factors: B h T K, of dropout on the weights, or 1."""
    scale, shape = sqrt(case.shape.d_k), case.shape
    position = _Position(r * scale, position_keys)
    choices = _Choices(position, case.span_of(), All(shape), Softmax(shape), case.attends_self)
    return (formula.weights(q * scale, k, z, choices, reach=case.limit) * factors) @ v


def inputs_of(case: Case, T: int, K: int, by_head: bool, dtype: torch.dtype) -> dict[str, Tensor]:
    """Numbers that `dtype` holds exactly, in 64 bits; spans off the whole numbers, whole, 0 and S.

    by_head: each head has position keys of its own. Values drift along the stream and dy leans the same way, so that
    the many parts of z's gradient do not cancel and leave the rounding of 16 bits alone to be compared.
    """
    shape, streams, tables = case.shape, (STREAMS, case.shape.heads), (case.shape.heads,) if by_head else ()
    sizes = {"q": (T, shape.d_k), "r": (T, shape.d_k), "k": (K, shape.d_k), "v": (K, shape.d_v), "dy": (T, shape.d_v)}
    inputs = {name: torch.randn(*streams, *size) for name, size in sizes.items()}
    inputs |= {"position_keys": torch.randn(*tables, shape.d_k, case.limit)}
    inputs["q"] /= sqrt(shape.d_k)
    inputs["r"] /= sqrt(shape.d_k)
    inputs["v"] += torch.linspace(-1, 1, K)[:, None]
    inputs["dy"] += 1
    inputs = {name: tensor.to(dtype).double() for name, tensor in inputs.items()}
    spans = torch.tensor([17.3, 30.0, 0.0, case.limit]).double()
    if case.span.follows_input:
        inputs["z"] = spans[torch.randint(len(spans), (*streams, T, 1))]
    elif case.ramp is not None:
        inputs["z"] = spans.repeat(shape.heads)[: shape.heads].view(-1, 1, 1)
    return inputs
