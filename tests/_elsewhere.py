"""A stand-in for a GPU: its tensors have the device "meta" and keep their numbers on the CPU.

What a GPU refuses is refused: tensors of two devices in one operation, a CPU's generator for
another device's numbers, and NumPy.
"""

from collections import Counter

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from models.attention.engine import backend, window

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
        if self.numel():
            self.flatten()[0].item()  # a mode sees that numbers are read
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


# views in all but name, and memory that nothing is written to
UNCOMPUTED = (aten._unsafe_view.default, aten.empty.memory_format, aten.new_empty.default)
# how many numbers they give depends on the numbers
COUNTED = (aten.nonzero.default, aten.masked_select.default, aten._unique2.default)


class NoWaiting(TorchDispatchMode):
    """While it is entered, refuse what Python would have to wait for, and count what is computed.

    To wait is to read a number, to count numbers, and to copy between devices at once. A view
    computes nothing.
    """

    def __init__(self):
        super().__init__()
        self.counts: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, operation, types, arguments=(), named=None):
        named = named or {}
        given = tree_leaves((arguments, named))
        elsewhere = any(isinstance(each, Elsewhere) for each in given)
        waits = operation in (*READ, *COUNTED) or _copies(operation, arguments, named)
        if elsewhere and (waits or _picks(operation, arguments)):
            raise RuntimeError(f"{operation} waits for the device")
        is_view = operation.is_view or operation in UNCOMPUTED
        if (elsewhere or named.get("device") == DEVICE) and not is_view:
            self.counts[str(operation)] += 1
        return operation(*arguments, **named)


def _picks(operation, arguments) -> bool:
    """Say whether an index is a mask, whose numbers must be counted."""
    indices = arguments[1] if operation in INDEXED else []
    return any(each is not None and each.dtype == torch.bool for each in indices)


def _copies(operation, arguments, named: dict) -> bool:
    """Say whether numbers are copied between devices, and Python waits."""
    if operation is aten._to_copy.default:
        device = named.get("device")
        moves = device is not None and device != arguments[0].device
        return moves and not named.get("non_blocking")
    if operation is aten.copy_.default:
        one, other = arguments[:2]
        waits = not (len(arguments) > 2 and arguments[2])
        return waits and isinstance(one, Elsewhere) != isinstance(other, Elsewhere)
    return False


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


def stand_in(monkeypatch, memory: int = 80 << 30) -> None:
    """Let attention take the device for a GPU with so many bytes, whose numbers arrive at once."""
    monkeypatch.setattr(backend, "memory_of", lambda device: memory)
    monkeypatch.setattr(window, "read_later", lambda numbers: numbers.here.tolist)


def to_cpu(state):
    """What a checkpoint holds, as a file on the disk would."""
    return tree_map_only(Elsewhere, lambda each: each.here.clone(), state)


def to_device(state):
    """Move every tensor to the device, as `torch.load` with `map_location`."""
    return tree_map_only(Tensor, Elsewhere, state)
