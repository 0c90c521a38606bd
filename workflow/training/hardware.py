"""What a CPU and a GPU each do in their own way: wait, count and limit memory, draw numbers."""

import ctypes
import resource
import sys
from contextlib import suppress

import torch


def synchronise(device: torch.device) -> None:
    """Wait until `device` has done all that it was given.

    A GPU works on while Python goes on, a CPU does not.
    """
    torch.get_device_module(device).synchronize()


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
        held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        limit_memory(held + budget)


def generators(device: torch.device) -> dict[str, torch.Generator]:
    """Return torch's generators that a run on `device` draws from, by kind of device."""
    found = {"cpu": torch.default_generator}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.default_generators[torch.cuda.current_device()]
    return found
