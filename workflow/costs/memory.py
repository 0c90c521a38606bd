"""Peak memory of this process: CUDA's allocator on a GPU, resident set on a CPU."""

import ctypes
import resource
from contextlib import suppress

import torch


def peak_bytes(device: torch.device) -> int:
    """Highest number of bytes held so far. On a CPU this counts the libraries too."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def reserved_bytes(device: torch.device) -> int | None:
    """What CUDA's allocator took from the device; None on a CPU."""
    return torch.cuda.max_memory_reserved(device) if device.type == "cuda" else None


def reset_peak(device: torch.device) -> None:
    """From here on the peak is counted anew, from what is held now (Linux; elsewhere the old peak stands)."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    _give_back_free_memory()
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _give_back_free_memory() -> None:
    """What C's allocator keeps of freed memory goes to the system: a later tensor in it would look free of charge."""
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):  # glibc
        libc.malloc_trim(0)
