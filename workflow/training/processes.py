"""A run in processes of its own: a fork on one device, or, by torchrun, one for each of several devices."""

import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import torch

from workflow.config.errors import ConfigError
from workflow.config.process import end_with_parent
from workflow.training.guard import status_of
from workflow.training.interruption import AGAIN, SIGNALS

ATTEMPTS = 3
LOOK = 0.1  # seconds between looks at the processes
HANDLED = (*SIGNALS, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)  # the others: torchrun's own
REFUSED = "refused"  # the status of bad input, of which there is no record


class Broken(Exception):
    """A process ended before the run did. status: as in a record."""

    def __init__(self, status: str, reason: str):
        super().__init__(reason)
        self.status = status


def refuse_too_many(count: int, device: torch.device) -> None:
    """`ConfigError` where this machine has fewer GPUs."""
    if device.type == "cuda" and count > torch.cuda.device_count():
        raise ConfigError(f"devices: {count} were asked for, this machine has {torch.cuda.device_count()} GPUs")


def launch(count: int, module: str, words: list[str]) -> None:
    """`python -m module words` in `count` processes. `Broken` where one breaks, `ConfigError` where it refuses.

    Told to stop, it tells them, and ends as they do.
    """
    from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    where = {"rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0", "run_id": str(os.getpid())}
    handled = ",".join(number.name for number in HANDLED)
    looks = {"max_restarts": 0, "monitor_interval": LOOK, "signals_to_handle": handled}
    try:
        with own_handlers(), TemporaryDirectory() as folder:  # torchrun would leave the reasons of errors behind
            config = LaunchConfig(1, 1, count, logs_specs=DefaultLogsSpecs(folder), **where, **looks)
            elastic_launch(config, sys.executable)("-m", module, *words)
    except SignalException as told:
        raise SystemExit(AGAIN if told.sigval in SIGNALS else 128 + told.sigval) from None
    except ChildFailedError as failed:
        if any(failure.exitcode == AGAIN for failure in failed.failures.values()):
            raise SystemExit(AGAIN) from None
        _, rank, status, reason = min(_account(rank, failure) for rank, failure in failed.failures.items())
        if status == REFUSED:
            raise ConfigError(reason) from None
        raise Broken(status, f"process {rank + 1} of {count}: {reason}") from None


def fork(work: Callable[[], None]) -> None:
    """`work` in a fork, begun again from its checkpoint where it was killed, as the system does when memory ends.

    `Broken` where it crashed, or was killed `ATTEMPTS` times. Ends this process as the fork ended otherwise. For a
    process that has touched no GPU.
    """
    ended = _wait_for(os.fork() or _end_after(work))
    for attempt in range(2, ATTEMPTS + 1):
        if ended != -signal.SIGKILL:
            break
        print(f"the run was killed: attempt {attempt} of {ATTEMPTS}", flush=True)
        ended = _wait_for(os.fork() or _end_after(work))
    if ended > 0 or -ended in HANDLED:
        sys.exit(ended if ended > 0 else 128 - ended)
    if ended == -signal.SIGKILL:
        raise Broken("oom", f"the process was killed {ATTEMPTS} times, as the system does when memory ends")
    if ended < 0:
        raise Broken("error", f"the process was ended by {signal.Signals(-ended).name}")


def _end_after(work: Callable[[], None]) -> NoReturn:
    """What the fork does."""
    end_with_parent()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        work()
        sys.exit(0)
    except SystemExit as ended:
        sys.stderr.flush()
        _end(ended.code)
    except BaseException:
        traceback.print_exc()
        _end(1)


def _wait_for(child: int) -> int:
    """Its exit status, or less than 0 the signal that ended it. It is told of signals to this process."""
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: os.kill(child, number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the child has it too
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def own_handlers():
    """Signals mean afterwards what they meant before: torchrun leaves handlers of its own behind."""
    before = {number: signal.getsignal(number) for number in HANDLED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _account(rank: int, failure) -> tuple[float, int, str, str]:
    """When a process broke, which, status, reason: as it wrote them in `told_to_launcher`, or as it was ended.

    One that was ended without a word comes first: the others lost their connection to it. One that was asked to end
    comes last: torchrun asks all when one has broken.
    """
    told = failure.error_file_data
    if "status" in told:
        return told["time"], rank, told["status"], told["message"]["message"]
    ended = f"ended by {failure.signal_name()}" if failure.exitcode < 0 else f"exit status {failure.exitcode}"
    return math.inf if failure.exitcode == -signal.SIGTERM else 0.0, rank, "error", ended


@contextmanager
def told_to_launcher():
    """What one of the processes cannot go on with is told to `launch`; none outlives the one that reports its end.

    The process ends with the block. Gloo's threads may still hold tensors then, and abort a process whose interpreter
    is taken down.
    """
    end_with_parent()
    try:
        yield
        _end(0)
    except SystemExit as stopped:
        _end(stopped.code)
    except (Exception, MemoryError) as error:
        refused = isinstance(error, ConfigError)
        reason = str(error) if refused else f"{type(error).__name__}: {error}".strip()[:400]
        message = {"message": reason, "extraInfo": {"timestamp": int(time.time()), "py_callstack": ""}}
        told = {"status": REFUSED if refused else status_of(error), "time": time.time(), "message": message}
        Path(os.environ["TORCHELASTIC_ERROR_FILE"]).write_text(json.dumps(told))
        if not refused:
            traceback.print_exc()
        _end(1)  # the group of processes is not taken down: that waits for those that wait for this one


def _end(code: int) -> None:
    sys.stdout.flush()
    os._exit(code)
