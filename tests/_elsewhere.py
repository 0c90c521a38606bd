"""A device that is none: its tensors lie elsewhere and refuse to meet the CPU's, as those of a GPU do.

`torch.device("meta")` stands in for it, the one device besides the CPU on which torch trains without hardware; here its
tensors have numbers, kept on the CPU. What a GPU refuses is refused: tensors of two devices in one operation, a CPU's
generator for another device's numbers, and NumPy.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

DEVICE, CPU = torch.device("meta"), torch.device("cpu")
COPIES = (torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default)
INDEXED = (torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default)  # take indices from a CPU too
READ = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default)  # give a number of Python's


class Elsewhere(Tensor):
    """A tensor with its numbers in `here`."""

    @staticmethod
    def __new__(cls, here: Tensor):
        like = {"strides": here.stride(), "storage_offset": here.storage_offset(), "dtype": here.dtype}
        return Tensor._make_wrapper_subclass(cls, here.shape, **like, device=DEVICE)

    def __init__(self, here: Tensor):
        self.here = here

    def tolist(self) -> list:
        return self.here.tolist()

    def numpy(self):
        raise TypeError("can't convert a device's tensor to numpy; use Tensor.cpu()")

    def __repr__(self) -> str:
        return f"Elsewhere({self.here})"

    @classmethod
    def __torch_dispatch__(cls, operation, types, arguments=(), named=None):
        named, given = dict(named or {}), []
        here = [_mapped(_here, each, given) for each in (arguments, named)]
        elsewhere, asked = any(isinstance(each, Elsewhere) for each in given), named.get("device")
        _refuse(operation, arguments, given, elsewhere, asked)
        if asked is not None:
            here[1]["device"] = CPU
        result = operation(*here[0], **here[1])
        if operation in READ or not (asked == DEVICE or (elsewhere and asked is None)):
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
        return False  # torch would import its compiler, which takes five seconds, and go through it each time

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        return Elsewhere.__torch_dispatch__(operation, types, arguments, named)


def _mapped(change, what, seen: list | None = None):
    """`what` with every leaf of its lists, tuples and dicts changed."""
    if isinstance(what, dict):
        return {key: _mapped(change, each, seen) for key, each in what.items()}
    if isinstance(what, list | tuple):
        return type(what)([_mapped(change, each, seen) for each in what])
    if seen is not None:
        seen.append(what)
    return change(what)


def _here(each):
    return each.here if isinstance(each, Elsewhere) else each


def _refuse(operation, arguments, given: list, elsewhere: bool, asked) -> None:
    """What a GPU refuses; a CPU's tensor of one number may take part in everything."""
    if any(isinstance(each, torch.Generator) for each in given) and (elsewhere or asked == DEVICE):
        raise RuntimeError(f"{operation}: expected a generator of the device, found one of the CPU")
    on_cpu = any(isinstance(each, Tensor) and not isinstance(each, Elsewhere) and each.dim() for each in given)
    indexed = operation in INDEXED and isinstance(arguments[0], Elsewhere)
    if elsewhere and on_cpu and not indexed and operation not in COPIES:
        raise RuntimeError(f"{operation}: expected all tensors on one device, found {DEVICE} and {CPU}")


def to_cpu(state):
    """What a checkpoint holds, as a file on the disk would."""
    return _mapped(lambda each: each.here.clone() if isinstance(each, Elsewhere) else each, state)


def to_device(state):
    """As `torch.load` with `map_location`: every tensor comes to the device, whatever it belongs to."""
    return _mapped(lambda each: Elsewhere(each) if isinstance(each, Tensor) else each, state)
