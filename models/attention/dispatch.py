"""Which code computes a bucket of heads: chosen by what is asked, noted, and forced by one key.

band       scores in a band, products by hand; softmax of all keys by hand, other choices through autograd
gathered   top-k: the kept keys alone are weighed
triton     softmax of all keys on a GPU, one kernel, its gradients held to the definition before a run
definition every key that any head might see: slow, the oracle
"""

from bisect import bisect_right
from collections import Counter

import torch
from torch import Tensor

from models.attention.banded import attend_band
from models.attention.bucket import Bucket
from models.attention.gathered import attend_kept
from models.attention.normalisers.softmax import Softmax
from models.attention.selections.all import All
from models.attention.selections.top_k import TopK
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.fixed import Fixed

# Reach -> the largest k at which gathering took less time than the band, forward and backward, on two cores of a CPU
# (docs/log.md); between two reaches the nearer one's counts.
GATHER_UP_TO = {0: 0, 64: 4, 128: 8, 256: 12, 512: 24, 1024: 64, 2048: 128}
WIDEST_TILE = 128  # dk and dv that the kernel holds

NOTED: Counter[str] = Counter()  # what was chosen for what, and how often
_forced: list[str] = []


def force(name: str) -> None:
    """From here on this code or none; `auto` chooses again."""
    if name not in ("auto", *WAYS, "definition"):
        raise ValueError(f"unknown engine '{name}'; valid: auto, {', '.join(WAYS)}, definition")
    _forced[:] = [] if name in ("auto", "definition") else [name]


def choose(bucket: Bucket, q: Tensor, places: Tensor | None, z: Tensor | None) -> str:
    """The name of the code for a bucket; ValueError where the one that is forced cannot compute it."""
    refused = {"gathered": _not_gathered(bucket), "triton": _not_triton(bucket, q, places, z), "band": None}
    if _forced:
        if why := refused[_forced[0]]:
            raise ValueError(f"engine '{_forced[0]}' was asked for: {why}")
        return _forced[0]
    if not refused["triton"]:
        return "triton"
    worth = not refused["gathered"] and bucket.selection.k <= _most(bucket.reach)
    return "gathered" if worth else "band"


def _most(reach: int) -> int:
    reaches = list(GATHER_UP_TO)
    return GATHER_UP_TO[reaches[bisect_right(reaches, reach) - 1]]


def _not_gathered(bucket: Bucket) -> str | None:
    return None if isinstance(bucket.selection, TopK) else "it computes top_k alone"


def _not_triton(bucket: Bucket, q: Tensor, places: Tensor | None, z: Tensor | None) -> str | None:
    """Why the kernel cannot compute a bucket."""
    if q.device.type != "cuda":
        return "it needs a GPU"
    if not isinstance(bucket.selection, All) or not isinstance(bucket.normaliser, Softmax):
        return "it computes the softmax of all keys alone"
    if not isinstance(bucket.span, Fixed | Adaptive) or (z is not None and z.dim() == 4):
        return "it computes fixed and adaptive spans alone"
    if places is None or places.dim() != 2:
        return "it computes relative positions alone"
    if bucket.drop:
        return "it has no dropout"
    return f"its tiles are {WIDEST_TILE} wide at most" if q.size(-1) > WIDEST_TILE else None


def attend_triton(bucket: Bucket, q, r, k, v, places, z, parameters: list) -> Tensor:
    from models.kernels.banded import attend  # triton is not there on every machine

    sides = (one.permute(1, 2, 0, 3) for one in (k, v))
    reach = bucket.span.reach(z)[: bucket.heads].clamp(max=bucket.reach)
    ramp = None if z is None else bucket.span.ramp
    return attend(q, *sides, places, z, reach, ramp=ramp, attends_self=bucket.attends_self, scale=1.0)


WAYS = {"band": attend_band, "gathered": attend_kept, "triton": attend_triton}


def attend_bucket(name: str, bucket: Bucket, q, r, k, v, places, z, parameters: list) -> Tensor:
    """As `banded.attend_band`, by the code that was chosen."""
    NOTED[_told(name, bucket, q)] += 1
    return WAYS[name](bucket, q, r, k, v, places, z, parameters)


def _told(name: str, bucket: Bucket, q: Tensor) -> str:
    """One line; lengths up to the next power of two, so that a run has few."""
    span, selection, normaliser = (type(one).__name__ for one in (bucket.span, bucket.selection, bucket.normaliser))
    kept = f" k={bucket.selection.k}" if isinstance(bucket.selection, TopK) else ""
    way_back = (
        f"backward, weights {'kept' if bucket.keep else 'computed again'}" if torch.is_grad_enabled() else "forward"
    )
    reach, T = (1 << max(0, int(length) - 1).bit_length() for length in (bucket.reach, q.size(2)))
    asked = f"{span} {selection}{kept} {normaliser}, reach <= {reach}, T <= {T}, {way_back}"
    return f"{q.device.type} {str(q.dtype).removeprefix('torch.')}: {asked}: {name}"
