"""What a CPU and a GPU do differently: wait, hold memory, draw numbers, and in how many bits."""

import ctypes
import os
import resource
import sys
from contextlib import nullcontext, suppress

import torch
from torch import Tensor

from models.kernels.compiled.build import processor
from workflow.config.errors import ConfigError
from workflow.config.job import Training

# options of glibc's mallopt, by their numbers in malloc.h
TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
MALLOC = {
    TRIM_THRESHOLD: 2**31 - 1,  # bytes that are kept free at the end of the heap
    TOP_PAD: 64 << 20,  # bytes that the heap grows by
    MMAP_MAX: 0,  # large tensors are in the heap, too
}


def pick_device(name: str) -> torch.device:
    """Return a device by its name; auto: a GPU if there is one. `ConfigError` for a missing GPU."""
    if name == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if name == "cuda":
        raise ConfigError("device 'cuda': torch sees no GPU; valid here: auto, cpu")
    return torch.device("cpu")


def name_of(device: torch.device) -> str:
    """Name the processor that computes, with its cores, or the GPU."""
    named = getattr(torch.get_device_module(device), "get_device_name", None)
    if named is not None:
        return named(device)
    name = processor("model name").split(":", 1)[-1].strip()
    return f"cpu: {name}, {os.cpu_count()} cores"


def synchronise(device: torch.device) -> None:
    """Wait until `device` has done all that it was given.

    A GPU works on while Python goes on, a CPU does not.
    """
    torch.get_device_module(device).synchronize()


def send(rows: Tensor, device: torch.device) -> Tensor:
    """Copy rows to `device`, without waiting until it has done the work before."""
    if device.type == "cuda" and rows.device.type == "cpu":
        rows = rows.pin_memory()  # from any other memory, the copy would wait
    return rows.to(device, non_blocking=True)


def peak_bytes(device: torch.device) -> int:
    """Return the most bytes held so far: by CUDA's allocator, on a CPU by the whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes
    return peak if sys.platform == "darwin" else 1024 * peak


def reserved_bytes(device: torch.device) -> int | None:
    """Return the bytes that CUDA's allocator took from the device; None on a CPU."""
    return torch.cuda.max_memory_reserved(device) if device.type == "cuda" else None


def reset_peak(device: torch.device) -> None:
    """Count the peak anew, from what is held now; `OSError` where the system refuses."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):  # glibc
        # a later tensor in freed memory that the process still holds would look free of charge
        libc.malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def keep_freed_memory() -> None:
    """Let this process keep the memory that it frees, for the next tensors, where glibc allocates.

    Otherwise the tensors of every update are new pages from the system. With small models these
    took a fifth of a run's time on a CPU (docs/log.md).
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        for option, value in MALLOC.items():
            libc.mallopt(option, value)


def limit_memory(budget: int) -> None:
    """Let this process hold at most `budget` bytes of its own data; beyond, an allocation fails.

    The kernel would otherwise kill the process, and a killed run leaves no record.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = budget if hard == resource.RLIM_INFINITY else min(budget, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))


def limit_more_memory(budget: int, device: torch.device) -> None:
    """Let the process hold `budget` bytes more on `device` than now, where the system can do so."""
    if device.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, budget / total))
        return
    with suppress(OSError, ValueError), open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmData"):
                _, kilobytes, _ = line.split()
                limit_memory(1024 * int(kilobytes) + budget)


def generators(device: torch.device) -> dict[str, torch.Generator]:
    """Return torch's generators that a run on `device` draws from, by kind of device."""
    found = {"cpu": torch.default_generator}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.default_generators[torch.cuda.current_device()]
    return found


def number_type(precision: str, device: torch.device) -> torch.dtype:
    """Return bf16 where the job asks for it and there is a GPU.

    A CPU computes products of bf16 300 times slower than of 32 bits.
    """
    if precision == "bf16" and device.type == "cuda":
        return torch.bfloat16
    return torch.float32


def precision(training: Training, device: torch.device):
    """Compute products in `number_type` while the context is entered; parameters keep 32 bits."""
    dtype = number_type(training.precision, device)
    if dtype == torch.float32:
        return nullcontext()
    return torch.autocast(device.type, dtype)


def in_full(logits: Tensor) -> Tensor:
    """Convert numbers of 16 bits to 32: sums of many small terms follow."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
