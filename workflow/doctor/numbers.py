"""Every backend against the definition in 64 bits on the CPU, on this device and for each number type it has."""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import torch

from models.attention.definition import Definition
from models.attention.engine.engine import Engine
from models.attention.engine.equivalence import BOUNDS
from models.kernels.compiled import build
from workflow.costs.engine_cases import net_of
from workflow.costs.engine_facts import SMALL, results
from workflow.doctor.finding import Finding, judge
from workflow.training.backends import prepare

SOFTMAX = ("fixed", "adaptive")
CHOICES = ("fixed", "adaptive", "top-k", "sparsemax", "entmax15", "entmax_alpha")
COMPUTES = {"definition": CHOICES, "compiled": CHOICES, "band": CHOICES, "small": CHOICES, "gather": ("top-k",)}
COMPUTES |= {"triton": SOFTMAX}
JUMPS = ("top-k", "sparsemax")  # which keys they keep may hang on the last bit, and the gradient with it
ROUGH = 0.1  # of the largest number: their bound below 64 bits
TIMES = 3.0  # that a backend may be off in 16 bits beside the definition in 16 bits: both round at every step


class Distance(NamedTuple):
    """How far off the worst tensor is, beside its largest number; how far it may be; which it is."""

    off: float
    bound: float
    where: str

    @property
    def share(self) -> float:
        """Of what is allowed; not a number is never within."""
        return self.off / self.bound if math.isfinite(self.off) else math.inf


def look_at_numbers(device: torch.device) -> Iterator[Finding]:
    """A line for each backend and type of number."""
    oracle = {name: results(name, Definition()) for name in CHOICES}
    for dtype in types_of(device):
        bounds = bounds_of(device, dtype, oracle)
        for backend in backends_of(device, dtype):
            worst = max(distances(backend, device, dtype, oracle, bounds), key=lambda each: each.share)
            said = f"{worst.off:.0e} of the largest number, at most {worst.bound:.0e}"
            about = f"{backend}, {device.type}, {str(dtype).removeprefix('torch.')}"
            yield judge(about, worst.share <= 1, said if worst.share <= 1 else f"{said}: {worst.where}")


def types_of(device: torch.device) -> list[torch.dtype]:
    half = [torch.bfloat16] if device.type == "cuda" and torch.cuda.is_bf16_supported() else []
    return [torch.float64, torch.float32, *half]


def backends_of(device: torch.device, dtype: torch.dtype) -> list[str]:
    """All that compute there; `look_at_compiler` and `look_at_triton` say why one is left out."""
    absent = {"compiled"} if device.type != "cpu" or build.obstacle(dtype) else set()
    runs_use = device.type == "cuda" and dtype.itemsize < 8  # and each type takes the kernel half a minute to compile
    absent |= set() if runs_use and find_spec("triton") else {"triton"}
    return [name for name in COMPUTES if name not in absent]


def bounds_of(device: torch.device, dtype: torch.dtype, oracle: dict) -> dict[str, float]:
    """By choice. In 16 bits what the definition itself is off decides."""
    bounds = {name: ROUGH if name in JUMPS and dtype.itemsize < 8 else BOUNDS[dtype] for name in CHOICES}
    if dtype.itemsize > 2:
        return bounds
    for name in CHOICES:
        rounded = max(each.off for each in distances("definition", device, dtype, {name: oracle[name]}, bounds))
        bounds[name] = max(bounds[name], TIMES * rounded)
    return bounds


def distances(backend: str, device, dtype: torch.dtype, oracle: dict, bounds: dict) -> Iterator[Distance]:
    """Of every tensor of every choice that a backend computes."""
    implementation = Definition if backend == "definition" else partial(Engine, backend)
    if backend == "triton":
        prepare(net_of(SMALL, "adaptive", 90, Engine(), device), backend, device, dtype)  # every tile of the kernel
    for name in (name for name in COMPUTES[backend] if name in oracle):
        with nullcontext() if backend == "compiled" else build.without():
            ours = results(name, implementation(), device, dtype)
        for key, expected in oracle[name].items():
            off = ((ours[key] - expected).abs().max() / expected.abs().max()).item()
            yield Distance(off, bounds[name], f"{name}: {key}")
