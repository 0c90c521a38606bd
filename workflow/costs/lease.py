"""A device belongs to one timing at a time, or to any number of runs that are not timed.

Snakemake counts a GPU but does not hand one out, and knows nothing of a second workflow on the machine. A lock file
per device does. Runs share the CPU; on a GPU each has the device to itself.
"""

import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from filelock import FileLock


@contextmanager
def lease(device: torch.device, *, alone: bool):
    """Hold `device` while the block runs. `alone`: a timing, which waits for and keeps off all other timings."""
    held = _lock(device) if alone or device.type == "cuda" else nullcontext()
    with held:
        yield


def _lock(device: torch.device) -> FileLock:
    name = f"attention-suite-{device.type}{device.index or 0}.lock"
    return FileLock(Path(tempfile.gettempdir()) / name, mode=0o666)
