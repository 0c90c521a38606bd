"""A device belongs to one timing at a time, or to any number of runs that are not timed.

Snakemake counts GPUs but does not assign them, and knows nothing of a second workflow on the machine; so each GPU, and
the CPU for its timings, has two lock files: the door, through which all come in their turn, and the room. Runs share
the room, a timing has it alone; one that waits holds the door, so that no later run keeps it waiting.
"""

import os
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
except ImportError:  # a system without these locks: nobody waits
    LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN = range(4)

    def flock(file: int, operation: int) -> None:
        pass


@contextmanager
def lease(device: torch.device, *, alone: bool):
    """Hold `device` while the block runs; who has to wait is told so.

    alone: a timing, which waits for others and keeps them waiting. Runs that are not timed share a GPU, as they share
    the CPU, for which they do not ask.
    """
    if not alone and device.type == "cpu":
        yield
        return
    name = f"{device.type}{device.index or 0}"
    with ExitStack() as files:
        door, room = (files.enter_context(_opened(f"attention-suite-{name}-{part}.lock")) for part in ("door", "room"))
        _take(door, LOCK_EX, name)
        _take(room, LOCK_EX if alone else LOCK_SH, name)
        flock(door, LOCK_UN)
        yield


@contextmanager
def _opened(name: str):
    """A lock file that all users of the machine may lock; closed, it is free again."""
    path = Path(tempfile.gettempdir()) / name
    try:
        file = os.open(path, os.O_RDWR)  # another user's may not be opened as one to create
    except FileNotFoundError:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        os.fchmod(file, 0o666)
    try:
        yield file
    finally:
        os.close(file)


def _take(file: int, kind: int, device: str) -> None:
    try:
        flock(file, kind | LOCK_NB)
    except OSError:
        print(f"waits for {device}: another run or timing on this machine has it", flush=True)
        flock(file, kind)
