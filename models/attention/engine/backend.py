"""Which code computes a group of heads: chosen by what is to be computed, or forced by name, and
counted.

compiled  the whole in C, where there is a compiler and every choice is one that it knows
triton    softmax of all keys on a GPU, positions by distance; checked against the definition before
a run band      scores in a band, differentiated by autograd: every choice, on every device
"""

from collections import Counter

import torch
from torch import Tensor

from ..choice import Shape
from ..normalisers.softmax import Softmax
from ..selections.all import All
from ..selections.top_k import TopK
from ..spans.adaptive import Adaptive
from ..spans.dynamic import Dynamic
from ..spans.fixed import Fixed
from ..spans.full import Full
from .band import attend_band
from .compiled import attend_compiled, attend_layer, attend_sequence, compiled_obstacle
from .groups import HeadGroup

WIDEST_TILE = 128  # dk and dv that the kernel holds

BACKENDS = ("auto", "compiled", "band", "triton", "definition")  # names that a run can be given
ENGINE_BACKENDS = BACKENDS[:-1]  # the definition is no engine


class Backend:
    """Chooses the code for each group of heads, and counts what was chosen for what."""

    def __init__(self, name: str = "auto"):
        """Take one of `ENGINE_BACKENDS`; ValueError for another. `kernel_fault`: why a check ruled
        the kernel out.
        """
        if name not in ENGINE_BACKENDS:
            raise ValueError(f"unknown backend '{name}'; valid: {', '.join(ENGINE_BACKENDS)}")
        self.name = name
        self.counts: Counter[tuple] = Counter()
        self.kernel_fault: str | None = None

    def choose(self, group: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None) -> str:
        """Return the name of the code for a group; ValueError where the forced one cannot compute
        it.
        """
        obstacles = {
            "compiled": compiled_obstacle(group, q),
            "triton": self.kernel_fault or _triton_obstacle(group, q, v, position_keys),
            "band": None,
        }
        if self.name == "auto":
            return next(name for name, obstacle in obstacles.items() if not obstacle)
        if obstacle := obstacles[self.name]:
            raise ValueError(f"backend '{self.name}' cannot compute this layer: {obstacle}")
        return self.name

    def takes_layer(self, layer, x: Tensor) -> bool:
        """Return whether the compiled library computes all heads of a layer at once, each with keys
        of its own.
        """
        return self.name in ("auto", "compiled") and not compiled_obstacle(layer, x)

    def attend(
        self, name: str, group: HeadGroup, q, r, k, v, position_keys, z, parameters: list
    ) -> Tensor:
        """Compute `band.attend_band` by the code `name` that was chosen, and count it."""
        self._count(name, group, q)
        return ATTEND[name](group, q, r, k, v, position_keys, z, parameters)

    def attend_layer(
        self, group: HeadGroup, tensors: tuple, shape: Shape, counts: tuple[int, ...]
    ) -> Tensor:
        """Compute `compiled.attend_layer` and count it."""
        self._count("compiled", group, tensors[0])
        return attend_layer(group, tensors, shape, counts)

    def attend_sequence(
        self, group: HeadGroup, tensors: tuple, visible: Tensor, reads_itself: bool
    ) -> Tensor:
        """Compute `compiled.attend_sequence` and count it."""
        self._count("compiled", group, tensors[0])
        return attend_sequence(group, tensors, visible, reads_itself)

    def _count(self, name: str, group: HeadGroup, q: Tensor) -> None:
        kinds = tuple(type(choice) for choice in (group.span, group.selection, group.normaliser))
        top_k = group.selection.k if isinstance(group.selection, TopK) else None
        grad = torch.is_grad_enabled()
        self.counts[name, q.device.type, q.dtype, kinds, top_k, group.reach, q.size(2), grad] += 1

    def counts_in_words(self) -> Counter[str]:
        """Count the choices, a line of words each; lengths are rounded up to powers of two, so that
        lines are few.
        """
        lines: Counter[str] = Counter()
        for (name, device, dtype, kinds, k, reach, T, grad), count in self.counts.items():
            span, selection, normaliser = (kind.__name__ for kind in kinds)
            reach, T = (1 << max(0, int(length) - 1).bit_length() for length in (reach, T))
            work = f"{span} {selection}{'' if k is None else f' k={k}'} {normaliser}, reach <= {reach}, T <= {T}"
            passes = "backward" if grad else "forward"
            lines[f"{device} {str(dtype).removeprefix('torch.')}: {work}, {passes}: {name}"] += (
                count
            )
        return lines


def kernel_obstacle(choices, d_k: int, d_r: int, d_v: int) -> str | None:
    """Return why the kernel cannot compute these choices on any GPU, or None.

    choices: those of a layer or a group. d_r: of position keys, a bias among them; 0 without.
    """
    if type(choices.selection) is not All or type(choices.normaliser) is not Softmax:
        return "it supports only softmax over all keys"
    if not isinstance(choices.span, Full | Fixed | Adaptive | Dynamic):
        return "it supports only full, fixed, adaptive and dynamic spans"
    if d_r != d_k:
        return "it needs position keys as wide as the keys"
    return f"its tiles are {WIDEST_TILE} wide at most" if max(d_k, d_v) > WIDEST_TILE else None


def _triton_obstacle(
    group: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None
) -> str | None:
    """Return why the kernel cannot compute a group, or None."""
    if q.device.type != "cuda":
        return "it needs a GPU"
    return kernel_obstacle(
        group, q.size(-1), 0 if position_keys is None else position_keys.size(-2), v.size(-1)
    )


def attend_triton(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """Compute what `band.attend_band` does, on a GPU."""
    from ...kernels.banded import attend  # triton is not there on every machine

    k, v = (rows.permute(1, 2, 0, 3) for rows in (k, v))
    reach = group.span.reach(z)[: group.heads].clamp(max=group.reach)
    ramp, dropout = None if z is None else group.span.ramp, {"drop": group.drop, "seed": group.seed}
    return attend(
        q, r, k, v, position_keys, z, reach, ramp=ramp, attends_self=group.attends_self, **dropout
    )


ATTEND = {"compiled": attend_compiled, "triton": attend_triton, "band": attend_band}
