"""Which code computes a model's attention, checked against the definition before a run."""

import platform
from collections import Counter
from collections.abc import Iterable
from functools import cache, partial
from itertools import product

import torch

from models.attention.choice import Shape
from models.attention.engine import compiled
from models.attention.engine.engine import Engine
from models.attention.engine.equivalence import Case, Mismatch, cases_of, check_equivalence
from models.attention.formula import Definition
from models.attention.layers import StreamAttention
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.kernels.compiled import build


def prepare(model, name: str, device: torch.device, dtype: torch.dtype) -> None:
    """Let all layers share one implementation. name: one of `backend.BACKENDS`.

    On a GPU the kernel must first give the definition's numbers for what this model's layers are.
    Where it does not, or cannot be compiled, `auto` does without it, as `chosen` then says, and
    `triton` ends in `equivalence.Mismatch`. ValueError for an unknown name.
    """
    implementation = compute_by(model, name)
    layers = stream_layers(model)
    if device.type == "cpu" and not build.obstacle(dtype):
        _check_compiled(dtype)
    if device.type == "cuda" and name in ("auto", "triton"):
        try:
            _check_kernel(layers, device, dtype)
        except Mismatch as error:
            if name == "triton":
                raise
            kind = str(dtype).removeprefix("torch.")
            implementation.backend.kernel_fault = f"{device.type} {kind}: kernel not used: {error}"


def compute_by(model, name: str) -> Definition | Engine:
    """Let all layers share one implementation, and return it. name: see `prepare`."""
    layers = len(model.attentions)
    implementation = Definition() if name == "definition" else Engine(name, layers)
    for layer in model.attentions:
        layer.implementation = implementation
    return implementation


def stream_layers(model) -> list[StreamAttention]:
    return [layer for layer in model.attentions if isinstance(layer, StreamAttention)]


@cache
def _check_compiled(dtype: torch.dtype) -> None:
    """Check that compiled code gives the definition's numbers; if not, do without it."""
    shape = Shape(48, 2)
    adaptive = Case(shape, Adaptive, 32, False)
    dynamic = Case(shape, Dynamic, 32, True, drop=0.3)
    try:
        for case in (adaptive, dynamic):
            check_equivalence(compiled.twin, "cpu", dtype, case)
    except Mismatch as error:
        build.refuse(dtype, str(error))


def _check_kernel(layers: list[StreamAttention], device: torch.device, dtype: torch.dtype) -> None:
    """Raise `Mismatch` unless the kernel gives the definition's numbers in every tile that fits.

    In 32 bits too, in which the scores of a model trained in 16 are looked at.
    """
    cases = set().union(*map(cases_of, layers))
    try:
        for case, kind in product(cases, {dtype, torch.float32}):
            _check_tiles(case, device, kind)
    except Mismatch:
        raise
    # triton's, its compiler's, the driver's: whatever it is, the kernel cannot be used
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        reason = " ... ".join(dict.fromkeys((lines[0], lines[-1])))
        raise Mismatch(f"it could not be run: {type(error).__name__}: {reason}") from error


def _check_tiles(case, device: torch.device, dtype: torch.dtype) -> None:
    from models.kernels.banded import attend  # triton is not there on every machine
    from models.kernels.tuning import TILES, each_that_fits

    def check(tile) -> None:
        check_equivalence(partial(attend, tile=tile), device, dtype, case)

    each_that_fits(TILES[dtype.itemsize], check)


def chosen(model) -> list[str]:
    """Say which backend computed what since `prepare`, the most frequent first.

    Lines before say why the kernel or the compiled code was not used, and on a GPU why a layer was
    computed as it was; lines after in which tiles the kernel was.
    """
    implementations = {
        id(layer.implementation): layer.implementation for layer in model.attentions
    }.values()
    if any(isinstance(implementation, Definition) for implementation in implementations):
        return ["definition"]
    lines: Counter[str] = Counter()
    faults = []
    for engine in implementations:
        lines.update(engine.backend.counts_in_words())
        if engine.backend.kernel_fault:
            faults.append(engine.backend.kernel_fault)
        faults += [f"{code}: {reason}" for code, reason in engine.backend.reasons.items()]
    for dtype, name in build.NAMES.items():
        was_used = any(line.startswith(f"cpu {name}") for line in lines)
        reason = build.obstacle(dtype)
        if was_used and reason:
            faults.append(f"cpu {name}: not compiled, so slower: {reason}")
    counted = [f"{line} ({count})" for line, count in lines.most_common()]
    return [*faults, *counted, *_tiles(lines)]


def bits(model, device: torch.device, dtype: torch.dtype) -> str:
    """Say how far the bits of this model's numbers travel.

    `portable`: to every x86 processor with a fused multiply-add, under the torch that the record
    names. All sums are those of the compiled code, or of torch's kernels for vectors that each such
    processor has. Else `this machine`.
    """
    x = torch.empty(0, dtype=dtype, device=device)
    engines = ((layer, layer.implementation) for layer in model.attentions)
    ours = all(
        isinstance(each, Engine) and not each.backend.layer_obstacle(layer, x)
        for layer, each in engines
    )
    theirs = (
        platform.machine() in ("x86_64", "AMD64")
        and torch.backends.cpu.get_cpu_capability() == "AVX2"
    )
    return "portable" if ours and theirs and not build.obstacle(dtype) else "this machine"


def _tiles(lines: Iterable[str]) -> list[str]:
    """Name the tiles that the kernel worked in, where one of the lines says that it was used."""
    if not any(line.endswith(": triton") for line in lines):
        return []
    from models.kernels import tuning  # triton is not there on every machine

    return tuning.chosen_tiles()
