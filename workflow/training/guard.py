"""What ends a run before its last step, and the status its record then carries."""

import resource
import signal
from contextlib import contextmanager

import torch

_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc")


class Diverged(Exception):
    """The loss is not a number, or above the bound."""


class TimeLimit(Exception):
    """The run's time is used up."""


AGREED = (Diverged, TimeLimit)  # what all devices of a run end with at the same step


def status_of(error: BaseException) -> str:
    """diverged | oom | timeout | error."""
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, TimeLimit):
        return "timeout"
    out_of_memory = isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)
    if out_of_memory or isinstance(error, MemoryError | torch.OutOfMemoryError):
        return "oom"
    return "error"


class Deadline:
    """Whether the time is up; the loop checks between two steps."""

    passed = False

    def __init__(self, seconds: float):
        self.seconds = seconds

    def check(self) -> None:
        if self.passed:
            raise TimeLimit(f"time limit of {self.seconds:.0f} s reached")


@contextmanager
def time_limit(seconds: float, grace: float = 60.0):
    """A `Deadline` that passes after `seconds`; code that has not checked it `grace` seconds later is interrupted.

    Interrupting is the last resort: an exception from a signal in the middle of a backward pass can end the process.
    """
    deadline = Deadline(seconds)

    def ring(signum, frame):
        if deadline.passed:
            deadline.check()
        deadline.passed = True
        signal.setitimer(signal.ITIMER_REAL, max(grace, 0.01))

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01))
    try:
        yield deadline
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def limit_memory(budget: int) -> None:
    """Let this process hold at most `budget` bytes of its own data: beyond, an allocation fails instead of the host.

    The kernel would otherwise kill the process, and a killed run leaves no record.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = budget if hard == resource.RLIM_INFINITY else min(budget, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
