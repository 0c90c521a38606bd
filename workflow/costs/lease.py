"""A device belongs to one timing at a time, or to any number of runs that are not timed.

Snakemake counts GPUs but does not assign them, and knows nothing of a second workflow on the machine; so each device
has a lock file. Runs share the CPU; on a GPU each has the device to itself.
"""

import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from filelock import FileLock


@contextmanager
def lease(device: torch.device, *, alone: bool):
    """Hold `device` while the block runs. alone: a timing, which waits for other timings and keeps them waiting."""
    lock = _lock(device) if alone or device.type == "cuda" else nullcontext()
    with lock:
        yield


def _lock(device: torch.device) -> FileLock:
    name = f"attention-suite-{device.type}{device.index or 0}.lock"
    return FileLock(Path(tempfile.gettempdir()) / name, mode=0o666)
