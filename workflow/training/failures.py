"""What ends a run before its last step, and what its record says of it.

The limits of time and of the loss, finite parameters, and any error. The limit of memory is in
hardware.py, the signals that tell a run to stop are in processes.py.
"""

import math
import subprocess
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from workflow.config.files import raise_if_full

_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc")
LONGEST_REASON = 500  # letters


@dataclass(frozen=True)
class Failure:
    """How a run, or a measurement, failed.

    status: "diverged", "oom", "timeout" or "error". reason: one line.
    """

    status: str
    reason: str


class Ended(Exception):
    """A run cannot go on: it diverged, its time is used up, or a process of it ended."""

    def __init__(self, status: str, reason: str):
        super().__init__(status, reason)
        self.failure = Failure(status, reason)


def failure(error: BaseException) -> Failure:
    """Say what a record, or a row of costs, tells of an error.

    `CannotWrite` where a disk is full, for that is no failure of what was trained or measured.
    """
    raise_if_full(error)
    if isinstance(error, Ended):
        return error.failure
    status = "oom" if _is_out_of_memory(error) else "error"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return Failure(status, reason[:LONGEST_REASON])


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    # allocators of torch and of C++ have no error of their own
    message = str(error).lower()
    return isinstance(error, RuntimeError) and any(sign in message for sign in _OUT_OF_MEMORY)


@contextmanager
def attempt(missing: dict[str, str], names: Iterable[str]) -> Iterator[None]:
    """Let the block fail alone; the reason is kept in `missing` under each of these names.

    For what observes or protects a run, and for each score of a trained model.
    """
    try:
        yield
    except Exception as error:
        # these say all in their line
        if not isinstance(error, OSError | ImportError | subprocess.SubprocessError):
            traceback.print_exc()
        reason = failure(error).reason
        for name in names:
            missing[name] = reason


def check_time(seconds: float, limit: float) -> None:
    """Raise `Ended` if the run has used up the seconds that its job allows."""
    if seconds >= limit:
        raise Ended("timeout", f"time limit of {limit:.0f} s reached")


def check_loss(mean: float, step: int, bound: float) -> None:
    """Raise `Ended` if the mean loss since the last point is NaN or above the bound, in nats."""
    if math.isfinite(mean) and mean <= bound:
        return
    problem = "above the bound of" if math.isfinite(mean) else "not finite; the bound is"
    where = f"mean loss {mean:.3g} nats up to step {step}"
    raise Ended("diverged", f"{where}, {problem} {bound:g}")


def check_parameters(are_finite: bool, step: int) -> None:
    """Raise `Ended` if the last update left parameters that are not finite."""
    if not are_finite:
        raise Ended("diverged", f"non-finite parameters after step {step}")
