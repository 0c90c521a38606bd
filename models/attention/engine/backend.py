"""Which code computes a group of heads: chosen by what is to be computed, or forced by name, and
counted.

compiled  all of it in C, where there is a compiler and it knows the kernel of every choice
triton    softmax of all keys on a GPU, positions by distance; checked against the definition
          before a run
band      scores in a band, differentiated by autograd: every choice, on every device
"""

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor

from ..choice import Shape
from ..variant import Variant
from .band import attend_band
from .compiled import attend_compiled, attend_layer, attend_sequence, compiled_obstacle
from .groups import HeadGroup, Operands, width_of_positions
from .window import next_power_of_two

WIDEST_TILE = 128  # dk and dv that the kernel holds
# In training the definition keeps tensors of the size of its scores for the backward pass. They may
# take a share of a GPU's memory: eight runs are on it at the same time.
SCORE_BYTES = 4  # also where products are in 16 bits
SAVED = 8  # such tensors of a layer at most: tests/models/test_window.py counts them
MEMORY_SHARE = 1 / 10

BACKENDS = ("auto", "compiled", "band", "triton", "definition")  # names that a run can be given
ENGINE_BACKENDS = BACKENDS[:-1]  # the definition is no engine


class Route(NamedTuple):
    """The code that computes a layer or a group of heads, and why it and no faster one."""

    code: str
    reason: str


class Work(NamedTuple):
    """What was computed for a group of heads, as it is counted."""

    backend: str
    device: str
    dtype: torch.dtype
    choices: str  # in words
    reach: int  # of the farthest-seeing head
    queries: int  # T
    backward: bool  # whether a backward pass can follow

    def in_words(self) -> str:
        """Describe it in a line; lengths are rounded up to powers of two, so that lines are few."""
        kind = str(self.dtype).removeprefix("torch.")
        reach = next_power_of_two(self.reach)
        T = next_power_of_two(self.queries)
        passes = "backward" if self.backward else "forward"
        work = f"{self.choices}, reach <= {reach}, T <= {T}, {passes}"
        return f"{self.device} {kind}: {work}: {self.backend}"


class Backend:
    """Chooses the code for each group of heads, and counts what was chosen for what."""

    def __init__(self, name: str = "auto"):
        """Take one of `ENGINE_BACKENDS`; ValueError for another.

        `kernel_fault`: why a check ruled the kernel out. `reasons`: why a layer on a GPU was
        computed as it was, by code.
        """
        if name not in ENGINE_BACKENDS:
            raise ValueError(f"unknown backend '{name}'; valid: {', '.join(ENGINE_BACKENDS)}")
        self.name = name
        self.counts: Counter[Work] = Counter()
        self.kernel_fault: str | None = None
        self.reasons: dict[str, str] = {}

    def choose(self, group: HeadGroup, operands: Operands) -> Route:
        """Choose the code for a group of heads, the fastest that can compute it, and say why.

        ValueError where the code that a run was given cannot.
        """
        q = operands.q
        not_on_gpu = _triton_obstacle(group, q, operands.v, operands.position_keys)
        # Fastest first. Autograd differentiates the band: it computes every choice everywhere.
        obstacles = {
            "compiled": compiled_obstacle(group, q),
            "triton": self.kernel_fault or not_on_gpu,
            "band": None,
        }
        if self.name != "auto":
            obstacle = obstacles[self.name]
            if obstacle:
                raise ValueError(f"backend '{self.name}' cannot compute this layer: {obstacle}")
            return Route(self.name, "the run was given it")
        passed_over = []
        for code, obstacle in obstacles.items():
            if not obstacle:
                break
            passed_over.append(f"{code}: {obstacle}")
        return Route(code, "; ".join(passed_over))

    def may_take_definition(self, layer, x: Tensor) -> bool:
        """Say whether the definition is asked for at all: for a stream in training on a GPU."""
        return self.name == "auto" and layer.training and x.device.type != "cpu"

    def definition_obstacle(self, layer, x: Tensor, keys: int, layers: int) -> str | None:
        """Return why the definition does not compute a block of a stream in training, or None.

        keys: how many it would score for each query. layers: of the model.
        """
        if not self.may_take_definition(layer, x):
            return "it is for training on a GPU"
        B, T, _ = x.shape
        scores = SCORE_BYTES * B * layer.shape.heads * T * keys
        needed = SAVED * layers * scores
        room = MEMORY_SHARE * memory_of(x.device)
        if needed > room:
            return f"its scores take {needed / 2**30:.3g} GiB, above {room / 2**30:.3g} GiB"
        return None

    def layer_obstacle(self, layer, x: Tensor) -> str | None:
        """Return why the compiled library does not compute a layer, all heads at once, or None."""
        if self.name not in ("auto", "compiled"):
            return f"the run was given {self.name}"
        return compiled_obstacle(layer, x)

    def attend(self, code: str, group: HeadGroup, operands: Operands) -> Tensor:
        """Compute `band.attend_band` by the code that was chosen, and count it."""
        self._count(code, group, operands.q)
        return ATTEND[code](group, operands)

    def attend_layer(
        self, group: HeadGroup, operands: Operands, shape: Shape, counts: tuple[int, ...]
    ) -> Tensor:
        """Compute `compiled.attend_layer` and count it."""
        self._count("compiled", group, operands.q)
        return attend_layer(group, operands, shape, counts)

    def attend_sequence(
        self, group: HeadGroup, operands: Operands, visible: Tensor, reads_itself: bool
    ) -> Tensor:
        """Compute `compiled.attend_sequence` and count it."""
        self._count("compiled", group, operands.q)
        return attend_sequence(group, operands, visible, reads_itself)

    def count_block(self, code: str, layer, like: Tensor, reach: int, queries: int) -> None:
        """Count a block of a stream that the definition computes with at most `reach` keys.

        code: "definition" or "chunks". like: a tensor of its device and number type. queries: T.
        """
        self._note(code, layer, like, reach, queries)

    def _count(self, name: str, group: HeadGroup, q: Tensor) -> None:
        self._note(name, group, q, group.reach, queries=q.size(2))

    def _note(self, name: str, choices, like: Tensor, reach: int, queries: int) -> None:
        work = Work(
            backend=name,
            device=like.device.type,
            dtype=like.dtype,
            choices=_in_words(choices),
            reach=reach,
            queries=queries,
            backward=torch.is_grad_enabled(),
        )
        self.counts[work] += 1

    def counts_in_words(self) -> Counter[str]:
        """Count the choices, a line of words each."""
        lines: Counter[str] = Counter()
        for work, count in self.counts.items():
            lines[work.in_words()] += count
        return lines


def memory_of(device: torch.device) -> int:
    """Return how many bytes a GPU has."""
    return torch.cuda.get_device_properties(device).total_memory


def _in_words(choices: Variant | HeadGroup) -> str:
    """Name the choices of a layer or group, and the k of a selection that has one."""
    span = type(choices.span).__name__
    selection = type(choices.selection).__name__
    normaliser = type(choices.normaliser).__name__
    k = getattr(choices.selection, "k", None)
    if k is not None:
        selection = f"{selection} k={k}"
    return f"{span} {selection} {normaliser}"


def kernel_obstacle(choices: Variant | HeadGroup, d_k: int, d_r: int, d_v: int) -> str | None:
    """Return why the kernel cannot compute these choices on any GPU, or None.

    choices: those of a layer or a group. d_r: of position keys, a bias among them; 0 without.
    """
    # A tile keeps a running maximum and sum (see kernels/banded_passes.py): only softmax has them.
    if choices.selection.kernel != "all" or choices.normaliser.kernel != "softmax":
        return "it supports only softmax over all keys"
    if choices.score_scale.changes_scores:
        return "it has no scores to change"
    if choices.span.kernel not in ("window", "ramp"):
        return "it supports only spans without a mask, or with a ramp"
    if d_r != d_k:
        return "it needs position keys as wide as the keys"
    if max(d_k, d_v) > WIDEST_TILE:
        return f"its tiles are {WIDEST_TILE} wide at most"
    return None


def kernel_obstacle_of(layer) -> str | None:
    """Return why the kernel cannot compute a layer on any GPU, or None."""
    shape = layer.shape
    return kernel_obstacle(layer, shape.d_k, width_of_positions(layer), shape.d_v)


def _triton_obstacle(
    group: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None
) -> str | None:
    """Return why the kernel cannot compute a group, or None."""
    if q.device.type != "cuda":
        return "it needs a GPU"
    # Position keys are dk W or h dk W.
    d_r = 0 if position_keys is None else position_keys.size(-2)
    return kernel_obstacle(group, q.size(-1), d_r, v.size(-1))


def attend_triton(group: HeadGroup, operands: Operands) -> Tensor:
    """Compute what `band.attend_band` does, on a GPU."""
    from ...kernels.banded import attend  # triton is not there on every machine

    z = operands.z
    # A fixed span says one reach for every head of the layer; z is of these heads alone.
    by_head = group.span.reach(z)[: group.heads]
    return attend(
        operands.q,
        operands.r,
        operands.k.permute(1, 2, 0, 3),  # K B g dk -> B g K dk
        operands.v.permute(1, 2, 0, 3),
        operands.position_keys,
        z,
        by_head.clamp(max=group.reach),
        ramp=None if z is None else group.span.ramp,
        attends_self=group.attends_self,
        drop=group.drop,
        seed=group.seed,
    )


ATTEND = {"compiled": attend_compiled, "triton": attend_triton, "band": attend_band}
