"""The check that another implementation gives the definition's numbers on this device and in this
number type.
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .. import formula
from ..choice import Shape
from ..normalisers.softmax import Softmax
from ..positions._position import Position
from ..selections.all import All
from ..spans._span import Span
from ..spans.fixed import Fixed
from ..spans.full import Full
from .backend import kernel_obstacle
from .groups import width_of_positions

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
        """Return the limit S of the inputs."""
        return BEYOND + (self.ramp or 0)

    def span_of(self) -> Span:
        settings = {} if self.ramp is None else {"ramp": self.ramp}
        return self.span(self.shape, limit=self.limit, **settings)


def cases_of(layer) -> set[Case]:
    """List the cases of a layer over streams, in training and evaluation; none where the kernel is
    not made for it.
    """
    if kernel_obstacle(layer, layer.shape.d_k, width_of_positions(layer), layer.shape.d_v):
        return set()
    span, ramp = (
        Fixed if isinstance(layer.span, Full) else type(layer.span),
        getattr(layer.span, "ramp", None),
    )
    return {
        Case(layer.shape, span, ramp, layer.attends_self, drop) for drop in (0.0, layer.dropout)
    }


class Given(Position):
    """Position queries and keys that are given."""

    def __init__(self, shape: Shape, r: Tensor, position_keys: Tensor):
        super().__init__(shape)
        self.__dict__ |= {"r": r, "position_keys": position_keys}

    def query(self, q: Tensor) -> Tensor:
        return self.r

    def keys(self, window: int) -> Tensor:
        return self.position_keys[..., -window:]


class _Choices(NamedTuple):
    position: Given
    span: Span
    selection: All
    normaliser: Softmax
    attends_self: bool


def definition(case: Case, factors: Tensor | float, q, r, k, v, position_keys, z=None) -> Tensor:
    """Compute y by the formula: B h T dv. q, r: over sqrt(dk). factors: B h T K, of dropout on the
    weights, or 1.
    """
    scale, shape = sqrt(case.shape.d_k), case.shape
    position = Given(shape, r * scale, position_keys)
    choices = _Choices(position, case.span_of(), All(shape), Softmax(shape), case.attends_self)
    return (formula.weights(q * scale, k, z, choices, reach=case.limit) * factors) @ v


def inputs_of(case: Case, T: int, K: int, by_head: bool, dtype: torch.dtype) -> dict[str, Tensor]:
    """Draw numbers that `dtype` holds exactly, in 64 bits; spans off the whole numbers, whole, 0
    and S.

    by_head: each head has position keys of its own. Values drift along the stream and dy leans the
    same way, so that the many parts of z's gradient do not cancel and leave the rounding of 16 bits
    alone to be compared.
    """
    shape, streams, tables = (
        case.shape,
        (STREAMS, case.shape.heads),
        (case.shape.heads,) if by_head else (),
    )
    sizes = {
        "q": (T, shape.d_k),
        "r": (T, shape.d_k),
        "k": (K, shape.d_k),
        "v": (K, shape.d_v),
        "dy": (T, shape.d_v),
    }
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


BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
# T, K and whether heads have position keys of their own; several tiles, the last not full
BLOCKS = (
    (71, 71, False),  # a stream that begins
    (71, 139, True),  # one under way
)
SEED = 1 << 61  # a kernel is compiled for seeds of 64 bits, as runs draw them, or of 32


class Mismatch(RuntimeError):
    """An implementation differs from the definition, or cannot be computed on this device."""


def check_equivalence(twin, device: str, dtype: torch.dtype, case: Case) -> None:
    """Raise `Mismatch` unless `twin` agrees with `formula.attend` on small random inputs, output
    and all gradients.

    twin: called as `attend` of `models/kernels/banded.py`; under dropout the definition gets the
    mask that the twin drew. The definition is computed in 64 bits from the rounded inputs, and an
    error is measured against the largest entry of its tensor. The state of torch's random numbers
    is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        blocks = [inputs_of(case, T, K, by_head, dtype) for T, K, by_head in BLOCKS]
    types = {"z": torch.promote_types(dtype, torch.float32)}
    for inputs in blocks:
        on_device = {
            name: tensor.to(device, types.get(name, dtype)) for name, tensor in inputs.items()
        }
        factors = dropout_factors(twin, case, on_device).cpu() if case.drop else 1.0
        expected = results(definition, case, factors, inputs)
        for name, tensor in results(call, case, twin, on_device).items():
            error = (tensor.cpu().double() - expected[name]).abs().max() / expected[
                name
            ].abs().max()
            if not error <= BOUNDS[dtype]:
                raise Mismatch(
                    f"banded attention differs from its definition in {name}: {error:.1e} of the largest entry, "
                    f"bound {BOUNDS[dtype]:.0e} ({device}, {dtype})"
                )


def call(case: Case, twin, q, r, k, v, position_keys, z=None) -> Tensor:
    """Compute y by the twin: B h T dv."""
    reach = case.span_of().reach(z)
    position_keys = position_keys[..., case.limit - int(reach.max()) :]
    dropout = {"drop": case.drop, "seed": SEED if case.drop else 0}
    return twin(
        q,
        r,
        k,
        v,
        position_keys,
        z,
        reach,
        ramp=case.ramp,
        attends_self=case.attends_self,
        **dropout,
    )


def dropout_factors(twin, case: Case, inputs: dict[str, Tensor]) -> Tensor:
    """Find the factors, 0 or 1 / (1 - drop), that the twin gives the weights: B h T K in 64 bits.

    With a one-hot value for each key the outputs are the weights themselves, as many keys at a time
    as a value is wide.
    """
    streams, (K, width) = inputs["v"].shape[:2], inputs["v"].shape[2:]
    one_hot = torch.eye(K, K + width).to(inputs["v"]).expand(*streams, -1, -1)
    given = {name: tensor for name, tensor in inputs.items() if name != "dy"}
    parts = [
        call(case, twin, **given | {"v": one_hot[..., at : at + width]})
        for at in range(0, K, width)
    ]
    return (torch.cat(parts, -1)[..., :K].detach() != 0).double() / (1 - case.drop)


def results(attend, case: Case, given, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Compute the output of `attend(case, given, ...)` and the gradient of every input."""
    leaves = {name: nn.Parameter(tensor) for name, tensor in inputs.items() if name != "dy"}
    y = attend(case, given, **leaves)
    gradients = torch.autograd.grad(y, list(leaves.values()), inputs["dy"])
    by_name = {
        f"the gradient of {name}": gradient
        for name, gradient in zip(leaves, gradients, strict=True)
    }
    return {"the output": y.detach()} | by_name
