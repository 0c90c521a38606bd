"""Operators of torch as they would run, counted on the meta device: shapes alone are computed, so any size will do."""

import weakref
from collections import Counter
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

aten = torch.ops.aten
FREE = {
    aten.empty,
    aten.new_empty,
    aten.empty_like,
    aten.empty_strided,
    aten.detach,
    aten._unsafe_view,
    aten.lift_fresh,
}
LOOKED_UP = {aten.embedding, aten.index, aten.gather, aten.index_select, aten._embedding_bag}  # some rows of a table
NEWTON = 6  # steps that a sparse normaliser takes as a rule: `normalisers/_sparse.py`


class Operator(NamedTuple):
    """macs: multiply-accumulates of a product. bytes: read and written."""

    name: str
    macs: int
    bytes: int


class Operators(TorchDispatchMode):
    """While it is entered: how often each operator is launched, and the most bytes that are held at a time.

    What depends on numbers is decided as it is as a rule: no padding, no ties among scores, `NEWTON` steps.
    """

    known: ClassVar[dict[tuple, tuple]] = {}  # operator and result by layouts: torch takes half a millisecond for them

    def __init__(self):
        super().__init__()
        self.launched: Counter[Operator] = Counter()
        self.held = self.peak = 0
        self.storages: set[int] = set()
        self.questions, self.times = 0, 1

    def forget(self) -> None:
        """Counts begin anew; what is held stays."""
        self.launched.clear()
        self.peak = self.held

    def note(self, operator: Operator) -> None:
        """One more launch."""
        self.launched[operator] += self.times

    @contextmanager
    def each(self, times: int):
        """What is launched here is launched so often."""
        before, self.times = self.times, times
        try:
            yield
        finally:
            self.times = before

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        named, kind = named or {}, function.overloadpacket
        if kind is aten._local_scalar_dense:
            return self._answer(arguments[0])
        if kind is aten.index:
            arguments = _without_masks(*arguments)
        if function.is_view or kind in FREE:
            return self._hold(function(*arguments, **named))
        key = (function, _layouts(arguments), _layouts(tuple(named.items())))
        if key not in self.known:
            result = function(*arguments, **named)
            if not _is_meta(result, arguments):
                return result  # Python's own small numbers, which are computed
            self.known[key] = _operator(function, arguments, named, result), _layouts(result)
            self.note(self.known[key][0])
            return self._hold(result)
        operator, layouts = self.known[key]
        self.note(operator)
        return _written(function, arguments, named) if function._schema.is_mutable else self._hold(_empty(layouts))

    def _answer(self, number: Tensor) -> float | bool:
        """What stands in for a number that Python asks for: a count is 1, a question has the usual answer."""
        if number.dtype != torch.bool:
            return 1
        self.questions += 1
        return self.questions % NEWTON != 0

    def _hold(self, result):
        """The result, whose memory is followed until it is released."""
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor) and (key := tensor.untyped_storage()._cdata) not in self.storages:
                storage = tensor.untyped_storage()
                self.storages.add(key)
                self.held += storage.nbytes()
                self.peak = max(self.peak, self.held)
                weakref.finalize(storage, self._release, key, storage.nbytes())
        return result

    def _release(self, key: int, size: int) -> None:
        self.storages.discard(key)
        self.held -= size


def _is_meta(result, arguments) -> bool:
    return all(each.is_meta for each in tree_leaves((result, arguments)) if isinstance(each, Tensor))


def bytes_of(tensor: Tensor) -> int:
    """Of the numbers that there are: what is expanded is read once."""
    numbers = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        numbers *= size if stride or not size else 1
    return numbers * tensor.element_size()


def _operator(function, arguments, named, result) -> Operator:
    written = [each for each in tree_leaves(result) if isinstance(each, Tensor)]
    read = [each for each in tree_leaves((arguments, named)) if isinstance(each, Tensor)]
    read = [*read[1:], *written] if function.overloadpacket in LOOKED_UP else read
    formula = flop_registry.get(function.overloadpacket)
    macs = formula(*arguments, **named, out_val=result) // 2 if formula else 0
    return Operator(str(function), macs, sum(map(bytes_of, (*read, *written))))


def _without_masks(x: Tensor, index: list[Tensor | None]) -> tuple[Tensor, list[Tensor | None]]:
    """x[mask] of a mask that is true everywhere: padding is left out, and there is none."""
    mask = index[0]
    if mask is None or mask.dtype != torch.bool:
        return x, index
    return x.flatten(0, mask.dim() - 1), [mask.new_empty(mask.numel(), dtype=torch.long)]


def _layouts(value):
    """Tensors as their shape, strides and type, which decide what an operator does; all else as it is."""
    if isinstance(value, Tensor):
        return torch.Size, tuple(value.shape), value.stride(), value.dtype
    return tuple(map(_layouts, value)) if isinstance(value, list | tuple) else value


def _empty(layouts):
    """The tensors of these layouts."""
    if isinstance(layouts, tuple) and layouts[:1] == (torch.Size,):
        return torch.empty_strided(*layouts[1:3], dtype=layouts[3], device="meta")
    return tuple(map(_empty, layouts)) if isinstance(layouts, tuple) else layouts


def _written(function, arguments, named):
    """What an operator returns that writes into what it is given."""
    outputs = [
        named[each.name] if each.name in named else arguments[place]
        for place, each in enumerate(function._schema.arguments)
        if each.alias_info is not None and each.alias_info.is_write
    ]
    return (outputs[0] if len(outputs) == 1 else tuple(outputs)) if function._schema.returns else None
