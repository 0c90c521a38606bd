"""Which code computes a group of heads: chosen by what is to be computed, or forced by name, and counted.

compiled  the whole in C, where there is a compiler and every choice is one that it knows
band      scores in a band, products by hand; softmax of all keys by hand, other choices through autograd
small     the same band in one piece, the backward pass left to autograd: for few scores, where Python costs more
gather    top-k: only the kept keys are weighed
one_step  one query of each stream, without gradients: one-step prediction; chosen, never forced
triton    softmax of all keys on a GPU, positions by distance; checked against the definition before a run
"""

from bisect import bisect_right
from collections import Counter

import torch
from torch import Tensor

from models.attention.choice import Shape
from models.attention.engine.band import attend_band
from models.attention.engine.compiled import attend_compiled, attend_layer, attend_sequence, compiled_obstacle
from models.attention.engine.gather import attend_gather
from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.one_step import attend_one_step
from models.attention.engine.rows import is_plain_softmax
from models.attention.engine.small import attend_small
from models.attention.selections.top_k import TopK
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.attention.spans.full import Full

# Reach -> the largest k at which gathering took less time than the band, forward and backward, on two cores of a CPU
# (docs/log.md); between two reaches the lower one's counts.
GATHER_UP_TO = {0: 0, 64: 4, 128: 8, 256: 12, 512: 24, 1024: 64, 2048: 128}
SMALL = 1 << 17  # scores of a block, B g T W, up to which one piece took less time: .78 at 2^14, equal at 2^17
WIDEST_TILE = 128  # dk and dv that the kernel holds

ENGINE_BACKENDS = ("auto", "compiled", "band", "small", "gather", "triton")
BACKENDS = (*ENGINE_BACKENDS, "definition")  # names that a run can be given; the definition is no engine


class Backend:
    """Chooses the code for each group of heads, and counts what was chosen for what."""

    def __init__(self, name: str = "auto"):
        """name: one of `ENGINE_BACKENDS`; ValueError for another. `kernel_fault`: why a check ruled the kernel out."""
        if name not in ENGINE_BACKENDS:
            raise ValueError(f"unknown backend '{name}'; valid: {', '.join(ENGINE_BACKENDS)}")
        self.name = name
        self.counts: Counter[tuple] = Counter()
        self.kernel_fault: str | None = None

    def choose(self, group: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None) -> str:
        """The name of the code for a group; ValueError where the forced one cannot compute it."""
        kernel = self.kernel_fault or _triton_obstacle(group, q, v, position_keys)
        obstacles = {"compiled": compiled_obstacle(group, q), "gather": _gather_obstacle(group), "triton": kernel}
        if self.name != "auto":
            if obstacle := obstacles.get(self.name):
                raise ValueError(f"backend '{self.name}' cannot compute this layer: {obstacle}")
            return self.name
        if not obstacles["compiled"]:
            return "compiled"
        if q.size(2) == 1 and not torch.is_grad_enabled() and not group.drop:
            return "one_step"
        if not obstacles["triton"]:
            return "triton"
        if q.numel() // q.size(-1) * min(group.reach, len(v)) <= SMALL:
            return "small"
        gathers = not obstacles["gather"] and group.selection.k <= _largest_gathered_k(group.reach)
        return "gather" if gathers else "band"

    def takes_layer(self, layer, x: Tensor) -> bool:
        """Whether the compiled library computes all heads of a layer at once, each with keys of its own."""
        return self.name in ("auto", "compiled") and not compiled_obstacle(layer, x)

    def attend(self, name: str, group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
        """As `band.attend_band`, by the code `name` that was chosen; counted."""
        self._count(name, group, q)
        return ATTEND[name](group, q, r, k, v, position_keys, z, parameters)

    def attend_layer(self, group: HeadGroup, tensors: tuple, shape: Shape, counts: tuple[int, ...]) -> Tensor:
        """As `compiled.attend_layer`; counted."""
        self._count("compiled", group, tensors[0])
        return attend_layer(group, tensors, shape, counts)

    def attend_sequence(self, group: HeadGroup, tensors: tuple, visible: Tensor, reads_itself: bool) -> Tensor:
        """As `compiled.attend_sequence`; counted."""
        self._count("compiled", group, tensors[0])
        return attend_sequence(group, tensors, visible, reads_itself)

    def _count(self, name: str, group: HeadGroup, q: Tensor) -> None:
        kinds = tuple(type(choice) for choice in (group.span, group.selection, group.normaliser))
        top_k = group.selection.k if isinstance(group.selection, TopK) else None
        grad = torch.is_grad_enabled()
        keep = grad and group.keep
        self.counts[name, q.device.type, q.dtype, kinds, top_k, group.reach, q.size(2), keep, grad] += 1

    def describe(self) -> Counter[str]:
        """What was chosen, in words; lengths are rounded up to powers of two, so that a run has few lines."""
        lines: Counter[str] = Counter()
        for (name, device, dtype, kinds, k, reach, T, keep, grad), count in self.counts.items():
            span, selection, normaliser = (kind.__name__ for kind in kinds)
            reach, T = (1 << max(0, int(length) - 1).bit_length() for length in (reach, T))
            work = f"{span} {selection}{'' if k is None else f' k={k}'} {normaliser}, reach <= {reach}, T <= {T}"
            passes = "backward" if grad else "forward"
            if grad and name == "band":
                passes += ", weights " + ("kept" if keep else "computed again")
            lines[f"{device} {str(dtype).removeprefix('torch.')}: {work}, {passes}: {name}"] += count
        return lines


def _largest_gathered_k(reach: int) -> int:
    reaches = list(GATHER_UP_TO)
    return GATHER_UP_TO[reaches[bisect_right(reaches, reach) - 1]]


def _gather_obstacle(group: HeadGroup) -> str | None:
    """Why gathering cannot compute a group."""
    return None if isinstance(group.selection, TopK) else "it computes top_k alone"


def kernel_obstacle(choices, has_positions: bool, d_k: int, d_v: int) -> str | None:
    """Why the kernel cannot compute these choices on any GPU; None where it can. choices: of a layer or a group."""
    if not is_plain_softmax(choices.selection, choices.normaliser):
        return "it computes the softmax of all keys alone"
    if not isinstance(choices.span, Full | Fixed | Adaptive | Dynamic):
        return "it computes full, fixed, adaptive and dynamic spans alone"
    if not has_positions:
        return "it computes positions by distance alone"
    return f"its tiles are {WIDEST_TILE} wide at most" if max(d_k, d_v) > WIDEST_TILE else None


def _triton_obstacle(group: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None) -> str | None:
    """Why the kernel cannot compute a group."""
    if q.device.type != "cuda":
        return "it needs a GPU"
    return kernel_obstacle(group, position_keys is not None, q.size(-1), v.size(-1))


def attend_triton(group: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `band.attend_band`, on a GPU."""
    from models.kernels.banded import attend  # triton is not there on every machine

    k, v = (rows.permute(1, 2, 0, 3) for rows in (k, v))
    reach = group.span.reach(z)[: group.heads].clamp(max=group.reach)
    ramp, dropout = None if z is None else group.span.ramp, {"drop": group.drop, "seed": group.seed}
    return attend(q, r, k, v, position_keys, z, reach, ramp=ramp, attends_self=group.attends_self, **dropout)


ATTEND = {
    "compiled": attend_compiled,
    "band": attend_band,
    "gather": attend_gather,
    "triton": attend_triton,
    "one_step": attend_one_step,
    "small": attend_small,
}
