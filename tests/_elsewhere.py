"""A stand-in for a GPU: its tensors have the device "meta" and keep their numbers on the CPU.

What a GPU refuses is refused: tensors of two devices in one operation, a CPU's generator for
another device's numbers, and NumPy.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

DEVICE = torch.device("meta")
CPU = torch.device("cpu")
aten = torch.ops.aten
COPIES = (aten.copy_.default, aten._to_copy.default)
# take indices from a CPU too
INDEXED = (aten.index.Tensor, aten.index_put_.default)
# give a number of Python's
READ = (aten._local_scalar_dense.default, aten.equal.default)


class Elsewhere(Tensor):
    """A tensor with its numbers in `here`."""

    @staticmethod
    def __new__(cls, here: Tensor):
        like = {
            "strides": here.stride(),
            "storage_offset": here.storage_offset(),
            "dtype": here.dtype,
        }
        return Tensor._make_wrapper_subclass(cls, here.shape, **like, device=DEVICE)

    def __init__(self, here: Tensor):
        self.here = here

    def tolist(self) -> list:
        return self.here.tolist()

    def __deepcopy__(self, memo):
        copy = self.detach().clone().requires_grad_(self.requires_grad)
        copy._is_param = getattr(self, "_is_param", False)
        return copy

    def numpy(self):
        raise TypeError("can't convert a device's tensor to numpy; use Tensor.cpu()")

    def __repr__(self) -> str:
        return f"Elsewhere({self.here})"

    @classmethod
    def __torch_dispatch__(cls, operation, types, arguments=(), named=None):
        named = named or {}
        given = tree_leaves((arguments, named))
        elsewhere = any(isinstance(each, Elsewhere) for each in given)
        asked = named.get("device")
        _refuse(operation, arguments, given, elsewhere, asked)
        here, options = tree_map_only(Elsewhere, lambda each: each.here, (arguments, named))
        if asked is not None:
            options["device"] = CPU
            elsewhere = asked == DEVICE
        result = operation(*here, **options)
        if operation in READ or not elsewhere:
            return result
        if isinstance(named.get("out"), Elsewhere):
            return named["out"]
        if operation._schema.name.endswith("_") and isinstance(arguments[0], Elsewhere):
            return arguments[0]  # changed in place
        return to_device(result)


class Numbers(TorchDispatchMode):
    """While it is entered, new tensors that are asked for on the device have numbers."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch would import its compiler, which takes five seconds, and go through it each time
        return False

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        return Elsewhere.__torch_dispatch__(operation, types, arguments, named)


def _refuse(operation, arguments, given: list, elsewhere: bool, asked) -> None:
    """Raise what a GPU raises; a CPU's tensor of one number may take part in everything."""
    if not elsewhere and asked != DEVICE:
        return
    if any(isinstance(each, torch.Generator) for each in given):
        raise RuntimeError(f"{operation}: expected a generator of the device, found one of the CPU")
    if not elsewhere or operation in COPIES:
        return
    if operation in INDEXED and isinstance(arguments[0], Elsewhere):
        return
    tensors = [each for each in given if isinstance(each, Tensor) and each.dim()]
    if not all(isinstance(each, Elsewhere) for each in tensors):
        raise RuntimeError(f"{operation}: expected all tensors on one device, found {CPU}")


def to_cpu(state):
    """What a checkpoint holds, as a file on the disk would."""
    return tree_map_only(Elsewhere, lambda each: each.here.clone(), state)


def to_device(state):
    """Move every tensor to the device, as `torch.load` with `map_location`."""
    return tree_map_only(Tensor, Elsewhere, state)
