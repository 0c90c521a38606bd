"""What a CPU and a GPU do each in its own way: wait, count memory, limit memory, draw random
numbers.
"""

import ctypes
import resource
import sys
from contextlib import suppress

import torch

from workflow.training.guard import limit_memory


def synchronise(device: torch.device) -> None:
    """Wait until `device` has done all that it was given: a GPU works on while Python goes on, a
    CPU does not.
    """
    torch.get_device_module(device).synchronize()


def peak_bytes(device: torch.device) -> int:
    """Return the highest number of bytes held so far: by CUDA's allocator, or by the whole process
    on a CPU.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def reserved_bytes(device: torch.device) -> int | None:
    """Return the bytes that CUDA's allocator took from the device; None on a CPU."""
    return torch.cuda.max_memory_reserved(device) if device.type == "cuda" else None


def reset_peak(device: torch.device) -> None:
    """Count the peak anew, from what is held now; an error where the system's counter cannot be set
    back.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):  # glibc
        # a later tensor in freed memory that the process still holds would look free of charge
        libc.malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def limit_more_memory(budget: int, device: torch.device) -> None:
    """Let the process hold `budget` bytes more on `device` than it does now, where the system can
    see to that.
    """
    if device.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(
            min(1.0, budget / torch.cuda.get_device_properties(0).total_memory)
        )
        return
    with suppress(OSError, ValueError), open("/proc/self/status") as status:
        held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        limit_memory(held + budget)


def generators(device: torch.device) -> dict[str, torch.Generator]:
    """Return torch's generators of random numbers that a run on `device` draws from, by kind of
    device.
    """
    found = {"cpu": torch.default_generator}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.default_generators[torch.cuda.current_device()]
    return found
