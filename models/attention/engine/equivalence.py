"""Whether a twin of the definition gives the definition's numbers on this device and in this type."""

import torch
from torch import Tensor, nn

from models.attention import formula
from models.attention.choice import Shape
from models.attention.normalisers.softmax import Softmax
from models.attention.positions.relative import Relative
from models.attention.selections.all import All
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.fixed import Fixed
from models.attention.stream_attention import StreamAttention

BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
BLOCKS = ((71, 71), (71, 139))  # T and K: a stream that begins, and one under way; several tiles, the last not full
STREAMS, BEYOND = 2, 43  # B, and the keys beyond the ramp


class Mismatch(RuntimeError):
    """A twin that differs from the definition."""


def check_equivalence(
    twin, device: str, dtype: torch.dtype, *, shape: Shape, ramp: int | None, attends_self: bool
) -> None:
    """Raises `Mismatch` unless `twin` agrees with `formula.attend` on small random inputs, output and all gradients.

    twin: called as `attend` of `models/kernels/banded.py`. shape: of the layers that will run. ramp: R of an adaptive
    span, whose heads are then given z from 0 to S; None for a fixed span. The definition is computed in 64 bits from
    the rounded inputs, and an error is measured against the largest entry of its tensor. The state of torch's random
    numbers is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = _layer(shape, ramp, attends_self)
        blocks = [_inputs(layer, T, K, dtype) for T, K in BLOCKS]
    for inputs in blocks:
        expected = _results(_definition(layer), inputs)
        types = {"z": torch.promote_types(dtype, torch.float32)}
        on_device = {name: tensor.to(device, types.get(name, dtype)) for name, tensor in inputs.items()}
        for name, tensor in _results(_call(twin, layer), on_device).items():
            error = (tensor.cpu().double() - expected[name]).abs().max() / expected[name].abs().max()
            if not error <= BOUNDS[dtype]:
                raise Mismatch(
                    f"banded attention differs from its definition in {name}: {error:.1e} of the largest entry, "
                    f"bound {BOUNDS[dtype]:.0e} ({device}, {dtype})"
                )


def _layer(shape: Shape, ramp: int | None, attends_self: bool) -> StreamAttention:
    """A layer with the choices that the twin was made for."""
    limit = BEYOND + (ramp or 0)
    span = Fixed(shape, limit=limit) if ramp is None else Adaptive(shape, limit=limit, ramp=ramp)
    return StreamAttention(
        shape, span, All(shape), Softmax(shape), Relative(shape, limit=limit), attends_self=attends_self
    )


def _inputs(layer: StreamAttention, T: int, K: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Numbers that `dtype` holds exactly, in 64 bits; among the spans one off the whole numbers, one whole, 0 and S.

    Values drift along the stream and dy leans the same way, so that the many parts of z's gradient do not cancel and
    leave the rounding of 16 bits alone to be compared.
    """
    shape, limit = layer.shape, layer.span.limit
    streams = (STREAMS, shape.heads)
    sizes = {"q": (*streams, T, shape.d_k), "k": (*streams, K, shape.d_k), "v": (*streams, K, shape.d_v)}
    sizes |= {"position_keys": (shape.d_k, limit), "dy": (*streams, T, shape.d_v)}
    inputs = {name: torch.randn(size) for name, size in sizes.items()}
    inputs["v"] += torch.linspace(-1, 1, K)[:, None]
    inputs["dy"] += 1
    inputs = {name: tensor.to(dtype).double() for name, tensor in inputs.items()}
    if isinstance(layer.span, Adaptive):
        spans = torch.tensor([17.3, 30.0, 0.0, limit])
        inputs["z"] = spans.repeat(shape.heads)[: shape.heads].double().view(-1, 1, 1)
    return inputs


def _definition(layer: StreamAttention):
    def attend(q, k, v, position_keys, z=None):
        layer.position.table = position_keys
        return formula.attend(q, k, v, z, layer, reach=layer.span.limit)

    return attend


def _call(twin, layer: StreamAttention):
    def attend(q, k, v, position_keys, z=None):
        reach, ramp = layer.span.reach(z), getattr(layer.span, "ramp", None)
        position_keys = position_keys[:, layer.span.limit - int(reach.max()) :]
        return twin(q, k, v, position_keys, z, reach, ramp=ramp, attends_self=layer.attends_self)

    return attend


def _results(attend, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The output, and the gradient of every input."""
    leaves = {name: nn.Parameter(tensor) for name, tensor in inputs.items() if name != "dy"}
    y = attend(**leaves)
    gradients = torch.autograd.grad(y, list(leaves.values()), inputs["dy"])
    by_name = {f"the gradient of {name}": gradient for name, gradient in zip(leaves, gradients, strict=True)}
    return {"the output": y.detach()} | by_name
