"""Which code computes a bucket of heads: chosen by what is asked, noted, and forced by one key.

band       scores in a band, products by hand; softmax of all keys by hand, other choices through autograd
small      the same band in one piece, the way back left to autograd: few scores, where Python costs more than it saves
gathered   top-k: the kept keys alone are weighed
single     one query of each stream, without gradients: one-step prediction
triton     softmax of all keys on a GPU, one kernel, its gradients held to the definition before a run
definition every key that any head might see: slow, the oracle
"""

from bisect import bisect_right
from collections import Counter

import torch
from torch import Tensor

from models.attention.engine.band import attend_band
from models.attention.engine.gather import attend_kept
from models.attention.engine.head_groups import HeadGroup
from models.attention.engine.one_step import attend_single
from models.attention.engine.rows import by_hand
from models.attention.engine.small import attend_small
from models.attention.selections.top_k import TopK
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.fixed import Fixed

# Reach -> the largest k at which gathering took less time than the band, forward and backward, on two cores of a CPU
# (docs/log.md); between two reaches the lower one's counts.
GATHER_UP_TO = {0: 0, 64: 4, 128: 8, 256: 12, 512: 24, 1024: 64, 2048: 128}
SMALL = 1 << 17  # scores of a block, B g T W, up to which one piece took less time: .78 at 2^14, equal at 2^17
WIDEST_TILE = 128  # dk and dv that the kernel holds

ENGINES = ("auto", "band", "small", "gathered", "triton", "definition")  # what may be forced
NOTED: Counter[tuple] = Counter()  # what was chosen for what, and how often
forced: list[str] = []  # by `force`: one name or none


def force(name: str) -> None:
    """From here on this code or none; `auto` chooses again."""
    if name not in ENGINES:
        raise ValueError(f"unknown engine '{name}'; valid: {', '.join(ENGINES)}")
    forced[:] = [] if name in ("auto", "definition") else [name]


def choose(bucket: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None, z: Tensor | None) -> str:
    """The name of the code for a bucket; ValueError where the one that is forced cannot compute it."""
    error = {"gathered": _not_gathered(bucket), "triton": _not_triton(bucket, q, v, position_keys, z)}
    if forced:
        if why := error.get(forced[0]):
            raise ValueError(f"engine '{forced[0]}' was asked for: {why}")
        return forced[0]
    if q.size(2) == 1 and not torch.is_grad_enabled() and not bucket.drop:
        return "single"
    if not error["triton"]:
        return "triton"
    if q.numel() // q.size(-1) * min(bucket.reach, len(v)) <= SMALL:
        return "small"
    worth = not error["gathered"] and bucket.selection.k <= _most(bucket.reach)
    return "gathered" if worth else "band"


def _most(reach: int) -> int:
    reaches = list(GATHER_UP_TO)
    return GATHER_UP_TO[reaches[bisect_right(reaches, reach) - 1]]


def _not_gathered(bucket: HeadGroup) -> str | None:
    return None if isinstance(bucket.selection, TopK) else "it computes top_k alone"


def _not_triton(bucket: HeadGroup, q: Tensor, v: Tensor, position_keys: Tensor | None, z: Tensor | None) -> str | None:
    """Why the kernel cannot compute a bucket."""
    if q.device.type != "cuda":
        return "it needs a GPU"
    if not by_hand(bucket.selection, bucket.normaliser):
        return "it computes the softmax of all keys alone"
    if not isinstance(bucket.span, Fixed | Adaptive) or (z is not None and z.dim() == 4):
        return "it computes fixed and adaptive spans alone"
    if position_keys is None or position_keys.dim() != 2:
        return "it computes relative positions alone"
    if bucket.drop:
        return "it has no dropout"
    return f"its tiles are {WIDEST_TILE} wide at most" if max(q.size(-1), v.size(-1)) > WIDEST_TILE else None


def attend_triton(bucket: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    from models.kernels.banded import attend  # triton is not there on every machine

    sides = (one.permute(1, 2, 0, 3) for one in (k, v))
    reach = bucket.span.reach(z)[: bucket.heads].clamp(max=bucket.reach)
    ramp = None if z is None else bucket.span.ramp
    return attend(q, *sides, position_keys, z, reach, ramp=ramp, attends_self=bucket.attends_self, scale=1.0)


WAYS = {
    "band": attend_band,
    "gathered": attend_kept,
    "triton": attend_triton,
    "single": attend_single,
    "small": attend_small,
}


def attend_bucket(name: str, bucket: HeadGroup, q, r, k, v, position_keys, z, parameters: list) -> Tensor:
    """As `banded.attend_band`, by the code that was chosen."""
    kinds = tuple(type(one) for one in (bucket.span, bucket.selection, bucket.normaliser))
    most = bucket.selection.k if isinstance(bucket.selection, TopK) else None
    grad = torch.is_grad_enabled()
    NOTED[name, q.device.type, q.dtype, kinds, most, bucket.reach, q.size(2), grad and bucket.keep, grad] += 1
    return WAYS[name](bucket, q, r, k, v, position_keys, z, parameters)


def told() -> Counter[str]:
    """`NOTED` in words, lengths up to the next power of two, so that a run has few lines."""
    found: Counter[str] = Counter()
    for (name, device, dtype, kinds, k, reach, T, keep, grad), count in NOTED.items():
        span, selection, normaliser = (kind.__name__ for kind in kinds)
        reach, T = (1 << max(0, int(length) - 1).bit_length() for length in (reach, T))
        asked = f"{span} {selection}{'' if k is None else f' k={k}'} {normaliser}, reach <= {reach}, T <= {T}"
        way_back = "backward" if grad else "forward"
        if grad and name == "band":
            way_back += ", weights " + ("kept" if keep else "computed again")
        found[f"{device} {str(dtype).removeprefix('torch.')}: {asked}, {way_back}: {name}"] += count
    return found
