"""What can end a run before its last update, and what it then leaves: a record with the reason, or a checkpoint."""

import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import torch

from workflow.config.errors import ConfigError
from workflow.config.files import CannotWrite
from workflow.config.job import Job
from workflow.results.record import Origin, Record, curve_text, write_record, write_text
from workflow.training import checkpoint
from workflow.training.devices import Devices

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)  # what a scheduler sends before it takes a machine away
AGAIN = 75  # the exit status: EX_TEMPFAIL of sysexits.h, "try again later"
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc")


class Diverged(Exception):
    """The loss is not a number, or above the bound."""


class TimeLimit(Exception):
    """The run's time is used up."""


class Interrupted(Exception):
    """The run was told to stop: not a failure, and no record of it."""


class Broken(Exception):
    """A process ended before the run did. status: as in a record."""

    def __init__(self, status: str, reason: str):
        super().__init__(status, reason)
        self.status, self.reason = status, reason


def status_of(error: BaseException) -> str:
    """Classify an error as a record does: diverged | oom | timeout | error."""
    if isinstance(error, Diverged):
        return "diverged"
    if isinstance(error, TimeLimit):
        return "timeout"
    out_of_memory = isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _OUT_OF_MEMORY)
    if out_of_memory or isinstance(error, MemoryError | torch.OutOfMemoryError):
        return "oom"
    return "error"


@contextmanager
def guarded(job: Job, folder: Path, origin: Origin, devices: Devices) -> Iterator[SimpleNamespace]:
    """Turn an error in the block into a record with its status and reason, the curve so far and the end of the log.

    The block keeps its `Run` as `run` of what is yielded. Bad input and a disk that refuses are raised, for they say
    nothing about the run. The error of one of several processes is raised as `Broken`, for the others wait for that
    process; only a loss that diverged and a time limit end all of them at the same step.
    """
    began, attempt = time.perf_counter(), SimpleNamespace(run=None)
    try:
        yield attempt
    except (ConfigError, CannotWrite):
        raise
    except (Exception, MemoryError) as raised:
        run = attempt.run
        error = run.cause(raised) if run else raised
        status, reason = status_of(error), f"{type(error).__name__}: {error}".strip()[:500]
        if devices.count > 1 and not isinstance(error, Diverged | TimeLimit):
            raise Broken(status, reason) from error
        if devices.first:
            print(f"{status} after {time.perf_counter() - began:.0f} s: {reason}", flush=True)
            curve, log = (run.curve, run.log) if run else ([], [])
            log = log + traceback.format_exc().splitlines()
            write(job, folder, origin, status=status, reason=reason, curve=curve, log=log)


def write(job: Job, folder: Path, origin: Origin, *, weights: dict | None = None, log: list[str] = (), **told) -> None:
    """Write weights, curve and record, in this order: where the record is, all else is.

    weights: none of a run that failed. told: further keys of the record. A run that has ended needs no checkpoint.
    """
    record = Record(digest=job.digest, job=job, origin=origin, log=log[-20:], **told)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights or {}})
    write_text(folder / "curve.csv", curve_text(record))
    write_record(folder / "record.json", record)
    (folder / "checkpoint.pt").unlink(missing_ok=True)


@contextmanager
def stopped_by_signals(save: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Yield a check that ends the run once SIGTERM or SIGUSR1 has come: after `save`, with exit status `AGAIN`.

    The loop calls it between two updates, for an exception within one could lose what is computed. Outside the block a
    signal ends the process at once; the newest checkpoint is on the disk then. Begun again, the run ends with the
    numbers of one that was never interrupted.
    """
    told: list[int] = []

    def check() -> None:
        if told:
            raise Interrupted(signal.Signals(told[0]).name)

    before = {number: signal.signal(number, lambda number, frame: told.append(number)) for number in SIGNALS}
    try:
        yield check
    except Interrupted as interrupted:
        save()
        print(f"{interrupted}: stopped; begun again, the run goes on from its checkpoint", flush=True)
        raise SystemExit(AGAIN) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def limit_memory(budget: int) -> None:
    """Let this process hold at most `budget` bytes of its own data: beyond, an allocation fails instead of the host.

    The kernel would otherwise kill the process, and a killed run leaves no record.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = budget if hard == resource.RLIM_INFINITY else min(budget, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
