"""Whether a twin of the definition gives the definition's numbers on this device and in this type."""

import torch
from torch import Tensor, nn

from models.attention.engine.equivalence_case import Case, definition, inputs_of

BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
BLOCKS = (  # T, K and whether heads have position keys of their own; several tiles, the last not full
    (71, 71, False),  # a stream that begins
    (71, 139, True),  # one under way
)
SEED = 1 << 61  # a kernel is compiled for seeds of 64 bits, as runs draw them, or of 32


class Mismatch(RuntimeError):
    """A twin that differs from the definition, or that cannot be computed on this device."""


def check_equivalence(twin, device: str, dtype: torch.dtype, case: Case) -> None:
    """Raises `Mismatch` unless `twin` agrees with `formula.attend` on small random inputs, output and all gradients.

    twin: called as `attend` of `models/kernels/banded.py`; under dropout the definition gets the mask that the twin
    drew. The definition is computed in 64 bits from the rounded inputs, and an error is measured against the largest
    entry of its tensor. The state of torch's random numbers is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        blocks = [inputs_of(case, T, K, by_head, dtype) for T, K, by_head in BLOCKS]
    types = {"z": torch.promote_types(dtype, torch.float32)}
    for inputs in blocks:
        on_device = {name: tensor.to(device, types.get(name, dtype)) for name, tensor in inputs.items()}
        factors = dropout_factors(twin, case, on_device).cpu() if case.drop else 1.0
        expected = results(definition, case, factors, inputs)
        for name, tensor in results(call, case, twin, on_device).items():
            error = (tensor.cpu().double() - expected[name]).abs().max() / expected[name].abs().max()
            if not error <= BOUNDS[dtype]:
                raise Mismatch(
                    f"banded attention differs from its definition in {name}: {error:.1e} of the largest entry, "
                    f"bound {BOUNDS[dtype]:.0e} ({device}, {dtype})"
                )


def call(case: Case, twin, q, r, k, v, position_keys, z=None) -> Tensor:
    """y by the twin: B h T dv."""
    reach = case.span_of().reach(z)
    position_keys = position_keys[..., case.limit - int(reach.max()) :]
    dropout = {"drop": case.drop, "seed": SEED if case.drop else 0}
    return twin(q, r, k, v, position_keys, z, reach, ramp=case.ramp, attends_self=case.attends_self, **dropout)


def dropout_factors(twin, case: Case, inputs: dict[str, Tensor]) -> Tensor:
    """The factors, 0 or 1 / (1 - drop), that the twin gives the weights: B h T K in 64 bits.

    With a one-hot value for each key the outputs are the weights themselves, as many keys at a time as a value is wide.
    """
    streams, (K, width) = inputs["v"].shape[:2], inputs["v"].shape[2:]
    one_hot = torch.eye(K, K + width).to(inputs["v"]).expand(*streams, -1, -1)
    given = {name: tensor for name, tensor in inputs.items() if name != "dy"}
    parts = [call(case, twin, **given | {"v": one_hot[..., at : at + width]}) for at in range(0, K, width)]
    return (torch.cat(parts, -1)[..., :K].detach() != 0).double() / (1 - case.drop)


def results(attend, case: Case, how, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The output of `attend(case, how, ...)`, and the gradient of every input."""
    leaves = {name: nn.Parameter(tensor) for name, tensor in inputs.items() if name != "dy"}
    y = attend(case, how, **leaves)
    gradients = torch.autograd.grad(y, list(leaves.values()), inputs["dy"])
    by_name = {f"the gradient of {name}": gradient for name, gradient in zip(leaves, gradients, strict=True)}
    return {"the output": y.detach()} | by_name
