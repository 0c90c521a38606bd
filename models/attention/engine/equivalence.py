"""The check that another implementation gives the definition's numbers on this device and in this
number type.
"""

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor, nn

from .. import formula
from ..choice import Shape
from ..normalisers.softmax import Softmax
from ..positions._position import Position
from ..score_scales.none import NoScale
from ..selections.all import All
from ..spans._span import Span
from ..spans.fixed import Fixed
from ..variant import Choices
from .backend import kernel_obstacle_of

STREAMS = 2  # B
BEYOND = 43  # keys beyond the ramp


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
    """List the cases of a layer over streams, in training and evaluation.

    There are none where the kernel is not made for the layer.
    """
    shape = layer.shape
    if kernel_obstacle_of(layer):
        return set()
    # A kernel sees of any span without a mask only how far it reaches: as of a fixed one.
    span = Fixed if layer.span.kernel == "window" else type(layer.span)
    cases = set()
    for drop in (0.0, layer.dropout):  # in evaluation and in training
        case = Case(
            shape=shape,
            span=span,
            ramp=getattr(layer.span, "ramp", None),
            attends_self=layer.attends_self,
            drop=drop,
        )
        cases.add(case)
    return cases


class Given(Position):
    """Position queries and keys that are given."""

    has_keys = True

    def __init__(self, shape: Shape, r: Tensor, position_keys: Tensor):
        super().__init__(shape)
        # Not by attribute: a module would register a parameter of the case as its own.
        self.__dict__ |= {"r": r, "position_keys": position_keys}

    def query(self, q: Tensor) -> Tensor:
        return self.r

    def keys(self, window: int) -> Tensor:
        return self.position_keys[..., -window:]


def definition(case: Case, factors: Tensor | float, q, r, k, v, position_keys, z=None) -> Tensor:
    """Compute y by the formula: B h T dv.

    q, r: over sqrt(dk). factors: B h T K, of dropout on the weights, or 1.
    """
    shape = case.shape
    scale = sqrt(shape.d_k)
    choices = Choices(
        span=case.span_of(),
        selection=All(shape),
        normaliser=Softmax(shape),
        position=Given(shape, r * scale, position_keys),
        score_scale=NoScale(shape),
        shape=shape,
        attends_self=case.attends_self,
    )
    p = formula.weights(q * scale, k, z, choices, reach=case.limit)
    return (p * factors) @ v


def inputs_of(case: Case, T: int, K: int, by_head: bool, dtype: torch.dtype) -> dict[str, Tensor]:
    """Draw numbers that `dtype` holds exactly, in 64 bits; spans off the whole numbers, whole, 0
    and S.

    by_head: each head has its own position keys. Values drift along the stream and dy leans the
    same way, so that the many parts of z's gradient do not cancel and leave the rounding of 16 bits
    alone to be compared.
    """
    shape = case.shape
    streams = (STREAMS, shape.heads)
    sizes = {
        "q": (T, shape.d_k),
        "r": (T, shape.d_k),
        "k": (K, shape.d_k),
        "v": (K, shape.d_v),
        "dy": (T, shape.d_v),
    }
    inputs = {}
    for name, size in sizes.items():
        inputs[name] = torch.randn(*streams, *size)
    tables = (shape.heads,) if by_head else ()
    inputs["position_keys"] = torch.randn(*tables, shape.d_k, case.limit)
    inputs["q"] /= sqrt(shape.d_k)
    inputs["r"] /= sqrt(shape.d_k)
    inputs["v"] += torch.linspace(-1, 1, K)[:, None]
    inputs["dy"] += 1
    # Rounded, so that both sides begin from the same numbers.
    for name, tensor in inputs.items():
        inputs[name] = tensor.to(dtype).double()

    # Between whole numbers, whole, at the start and at the limit.
    spans = torch.tensor([17.3, 30.0, 0.0, case.limit]).double()
    if case.span.follows_input:
        index = torch.randint(len(spans), (*streams, T, 1))
        inputs["z"] = spans[index]
    elif case.ramp is not None:
        in_turn = spans.repeat(shape.heads)[: shape.heads]
        inputs["z"] = in_turn.view(-1, 1, 1)
    return inputs


BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
# T, K and whether each head has its own position keys; several tiles, the last not full
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
    # Spans are given in 32 bits at least: 16 could not tell keys far away from one another.
    types = {"z": torch.promote_types(dtype, torch.float32)}
    for inputs in blocks:
        on_device = {}
        for name, tensor in inputs.items():
            on_device[name] = tensor.to(device, types.get(name, dtype))
        factors = dropout_factors(twin, case, on_device).cpu() if case.drop else 1.0
        expected = results(definition, case, factors, inputs)
        found = results(call, case, twin, on_device)
        for name, tensor in found.items():
            error = _relative_error(tensor, expected[name])
            if not error <= BOUNDS[dtype]:  # nor where it is NaN
                raise Mismatch(
                    f"banded attention differs from its definition in {name}: "
                    f"{error:.1e} of the largest entry, bound {BOUNDS[dtype]:.0e} "
                    f"({device}, {dtype})"
                )


def _relative_error(found: Tensor, expected: Tensor) -> Tensor:
    """Return the largest difference over the largest entry."""
    difference = found.cpu().double() - expected
    return difference.abs().max() / expected.abs().max()


def call(case: Case, twin, q, r, k, v, position_keys, z=None) -> Tensor:
    """Compute y by the twin: B h T dv."""
    reach = case.span_of().reach(z)
    # The twin is given the columns up to the farthest reach.
    not_reached = case.limit - int(reach.max())
    return twin(
        q,
        r,
        k,
        v,
        position_keys[..., not_reached:],
        z,
        reach,
        ramp=case.ramp,
        attends_self=case.attends_self,
        drop=case.drop,
        seed=SEED if case.drop else 0,
    )


def dropout_factors(twin, case: Case, inputs: dict[str, Tensor]) -> Tensor:
    """Find the factors, 0 or 1 / (1 - drop), that the twin gives the weights: B h T K in 64 bits.

    With a one-hot value for each key the outputs are the weights themselves, as many keys at a time
    as a value is wide.
    """
    values = inputs["v"]
    B, h, K, width = values.shape
    # With as many zero columns behind as fill the last part: K (K + width).
    one_hot = torch.eye(K, K + width).to(values)
    by_head = one_hot.expand(B, h, -1, -1)
    given = dict(inputs)
    del given["dy"]
    parts = []
    for start in range(0, K, width):
        given["v"] = by_head[..., start : start + width]
        part = call(case, twin, **given)
        parts.append(part)
    weights = torch.cat(parts, -1)[..., :K]
    # A weight that dropout left is not 0.
    is_left = weights.detach() != 0
    return is_left.double() / (1 - case.drop)


def results(attend, case: Case, given, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Compute the output of `attend(case, given, ...)` and the gradient of every input."""
    leaves = {}
    for name, tensor in inputs.items():
        if name != "dy":
            leaves[name] = nn.Parameter(tensor)
    y = attend(case, given, **leaves)
    gradients = torch.autograd.grad(y, list(leaves.values()), inputs["dy"])
    found = {"the output": y.detach()}
    for name, gradient in zip(leaves, gradients, strict=True):
        found[f"the gradient of {name}"] = gradient
    return found
