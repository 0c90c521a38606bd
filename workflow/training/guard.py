"""What can end a run before its last update, and what it then leaves: a record with the reason, or
a checkpoint.
"""

import resource
import signal
import subprocess
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from workflow.config.files import raise_if_full
from workflow.config.process import PASSED_ON
from workflow.training.devices import Devices

AGAIN = 75  # the exit status: EX_TEMPFAIL of sysexits.h, "try again later"
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc")


class Ended(Exception):
    """A run cannot go on: its loss is no number or above the bound, its time is used up, a process
    of it ended.

    status, reason: as in a record.
    """

    def __init__(self, status: str, reason: str):
        super().__init__(status, reason)
        self.status, self.reason = status, reason


class Interrupted(Exception):
    """The run was told to stop: not a failure, and no record of it."""


def failure(error: BaseException) -> dict[str, str]:
    """Return what a record, or a row of costs, says of an error: its status, and its reason in a
    line.

    `CannotWrite` where a disk is full, for that is no failure of what was trained or measured.
    """
    raise_if_full(error)
    if isinstance(error, Ended):
        return {"status": error.status, "reason": error.reason}
    out_of_memory = isinstance(error, RuntimeError) and any(
        sign in str(error).lower() for sign in _OUT_OF_MEMORY
    )
    status = (
        "oom"
        if out_of_memory or isinstance(error, MemoryError | torch.OutOfMemoryError)
        else "error"
    )
    return {"status": status, "reason": " ".join(f"{type(error).__name__}: {error}".split())[:500]}


def attempt(
    missing: dict[str, str], names: Iterable[str], work: Callable[[], Any], otherwise: Any = None
) -> Any:
    """Return what `work` gives; where it fails, `otherwise`, with the reason under each of the
    names in `missing`.

    What observes or protects a run, and each score of a trained net, fails alone.
    """
    try:
        return work()
    except Exception as error:
        # these say all in their line
        if not isinstance(error, OSError | ImportError | subprocess.SubprocessError):
            traceback.print_exc()
        missing |= dict.fromkeys(names, failure(error)["reason"])
        return otherwise


def end_badly(error: Exception, run, write: Callable[..., None], devices: Devices) -> None:
    """Write a record of a run that an error ended: status, reason, the curve so far, the end of the
    log.

    And the weights, where it came after the last step. run: None where it was not yet built. write:
    takes these keys. The error of one of several processes is raised, for the others wait for that
    process; only a loss that diverged and a time limit end all of them at the same step.
    """
    told = failure(error)
    if run and told["status"] == "error" and not run.has_numbers:
        told = {
            "status": "diverged",
            "reason": f"non-finite parameters at step {run.step}: {told['reason']}",
        }
    if devices.count > 1 and told["status"] not in ("diverged", "timeout"):
        raise Ended(**told) from error
    if devices.first:
        print(f"{told['status']}: {told['reason']}", flush=True)
        curve, log, losses = (run.curve, run.log, run.losses) if run else ([], [], [])
        net = run.net.state_dict() if run and run.is_trained else None
        write(
            **told,
            curve=curve,
            losses=losses,
            log=log + traceback.format_exc().splitlines(),
            net=net,
        )


@contextmanager
def stopped_by_signals(save: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Yield a check that ends the run once SIGTERM or SIGUSR1 has come: after `save`, with exit
    status `AGAIN`.

    The loop calls it between two updates, for an exception within one could lose what is computed.
    Outside the block a signal ends the process at once; the newest checkpoint is on the disk then.
    Begun again, the run ends with the numbers of one that was never interrupted.
    """
    told: list[int] = []

    def check() -> None:
        if told:
            raise Interrupted(signal.Signals(told[0]).name)

    before = {
        number: signal.signal(number, lambda number, frame: told.append(number))
        for number in PASSED_ON
    }
    try:
        yield check
    except Interrupted as interrupted:
        save()
        print(f"{interrupted}: stopped; start it again to resume from the checkpoint", flush=True)
        raise SystemExit(AGAIN) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def limit_memory(budget: int) -> None:
    """Let this process hold at most `budget` bytes of its own data: beyond, an allocation fails
    instead of the host.

    The kernel would otherwise kill the process, and a killed run leaves no record.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = budget if hard == resource.RLIM_INFINITY else min(budget, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
