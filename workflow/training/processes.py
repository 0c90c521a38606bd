"""The processes that train one model: how they are started, share the work and are told to stop.

A run is trained in a process of its own, or in one for each device. The process that starts them
waits, and knows why one of them crashed.

Each holds the whole model and takes an equal part of every update. The gradients are then averaged
over the processes, so that all make the same update:

    1/N sum_n  d/dw (mean loss of part n + penalty)  =  d/dw (mean loss of the whole + penalty)

Numbers and stops that all must share travel between the CPUs, so that no process waits for its GPU
to tell them.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from multiprocessing import connection
from typing import NoReturn

import torch
from torch import Tensor

from workflow.config.errors import ConfigError
from workflow.config.process import PASSED_ON, end_with_parent
from workflow.training.failures import Ended

ATTEMPTS = 3  # to train a run whose process the system kills
AGAIN = 75  # the exit status of a run that was told to stop: EX_TEMPFAIL, "try again later"
LONGEST_WAIT = timedelta(minutes=30)  # of a process for another, which may be scoring dev
# torch is imported; the process that starts others has touched no GPU
FORK = multiprocessing.get_context("fork")


def in_processes(count: int, work: Callable[[], None]) -> NoReturn:
    """Call `work` in `count` forks and exit as they did.

    Raises `Ended` if one of them crashed, and the error of one that could not write or read.
    Where one was killed, as the system does when memory ends, all begin again from the checkpoint,
    twice at most. Told to stop, this process tells them.
    """
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            print(f"the run was killed: attempt {attempt} of {ATTEMPTS}", flush=True)
        status = _attempt(count, work)
        if status != -signal.SIGKILL:
            break
    if status == -signal.SIGKILL:
        reason = f"the process was killed {ATTEMPTS} times, probably because memory ran out"
        raise Ended("oom", reason)
    if -status in PASSED_ON:
        sys.exit(AGAIN)
    if status < 0 and status != -signal.SIGINT:
        which = "the process" if count == 1 else f"one of {count} processes"
        raise Ended("error", f"{which} was ended by {signal.Signals(-status).name}")
    sys.exit(status if status >= 0 else 128 - status)


def _attempt(count: int, work: Callable[[], None]) -> int:
    """Start the forks and wait for them.

    Return 0, the first other exit status, or below 0 the signal that ended one.
    """
    told, tell = FORK.Pipe(duplex=False)  # no queue, whose lock needs shared memory
    variables = [{}]
    if count > 1:
        # they find each other through a store of this process, in the way of torchrun's
        store = torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        variables = [_variables(rank, count, store.port) for rank in range(count)]
    forks = [FORK.Process(target=_work, args=(work, tell, each)) for each in variables]
    for fork in forks:
        fork.start()
    status = _wait_for(forks)
    if status > 0 and told.poll():
        raise told.recv()
    return status


def _variables(rank: int, count: int, port: int) -> dict[str, str]:
    """Make the environment of a process as torchrun sets it and `join_devices` reads it."""
    variables = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": port,
        "TORCHELASTIC_USE_AGENT_STORE": True,
        "TORCHELASTIC_RUN_ID": "run",
        "TORCHELASTIC_RESTART_COUNT": 0,
    }
    return {name: str(value) for name, value in variables.items()}


def _work(work: Callable[[], None], tell, variables: dict[str, str]) -> None:
    """Do the work of one process; send an error that ends it to the process that waits."""
    end_with_parent()
    for number in (*PASSED_ON, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.environ.update(variables)
    try:
        work()
    except (Ended, ConfigError, OSError) as error:
        tell.send(error)
        sys.exit(1)


def _wait_for(forks: list) -> int:
    """Wait for all; where one fails, kill the others, which would wait for it.

    Return its status, below 0 that of a signal.
    """

    def pass_on(number: int, frame: object) -> None:
        for fork in forks:
            with suppress(ProcessLookupError):
                os.kill(fork.pid, number)

    for number in PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the forks too
    status = 0
    running = forks
    while running:
        connection.wait([fork.sentinel for fork in running])
        codes = {fork: fork.exitcode for fork in running}
        # one that a signal ended comes first: others may have ended because they lost it
        status = status or min(filter(None, codes.values()), default=0)
        running = [fork for fork, code in codes.items() if code is None]
        if status not in (0, AGAIN):
            for fork in running:
                fork.kill()
    return status


class Devices:
    """One of `count` processes, the `rank`-th. The methods of a single process do nothing."""

    def __init__(self, count: int = 1, rank: int = 0):
        self.count = count
        self.rank = rank

    @property
    def first(self) -> bool:
        """Whether this process scores, saves and writes; one does it for all."""
        return self.rank == 0

    def rows(self, whole: int) -> slice:
        """Return this process's part of `whole` rows, which `count` divides."""
        size = whole // self.count
        return slice(self.rank * size, (self.rank + 1) * size)

    def average_gradients(self, parameters: list[Tensor]) -> None:
        """Replace the gradient of each parameter by its mean over the processes.

        After the backward passes, not during them as DistributedDataParallel does, whose import
        takes a second (docs/decisions/0018-several-devices.md).
        """
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is not None:
                torch.distributed.all_reduce(parameter.grad)
                parameter.grad /= self.count

    def mean(self, number: Tensor) -> Tensor:
        """Return the mean of a tensor over the processes, on the CPU."""
        mean = number.detach().to("cpu", copy=True)
        if self.count > 1:
            torch.distributed.all_reduce(mean)
            mean /= self.count
        return mean

    def join(self, part: Tensor, dim: int) -> Tensor:
        """Join the parts of all processes, which have one shape, one after the other."""
        if self.count == 1:
            return part.clone()
        parts = []
        for _ in range(self.count):
            parts.append(torch.empty_like(part, memory_format=torch.contiguous_format))
        torch.distributed.all_gather(parts, part.contiguous())
        return torch.cat(parts, dim)

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.count > 1:
            torch.distributed.all_reduce(torch.zeros(()))

    @contextmanager
    def raising_together(self) -> Iterator[None]:
        """Where the block raises in one process, all raise the same after it."""
        if self.count == 1:
            yield
            return
        error = None
        try:
            yield
        except Exception as raised:
            error = raised
        raised_here = torch.tensor(error is not None, dtype=torch.int32)
        torch.distributed.all_reduce(raised_here)
        if not raised_here:
            return
        errors: list[Exception | None] = [None] * self.count
        torch.distributed.all_gather_object(errors, error)
        raise next(error for error in errors if error is not None)


ALONE = Devices()


def refuse_too_many(count: int, device: torch.device) -> None:
    """Raise `ConfigError` where this machine has fewer GPUs."""
    if device.type == "cuda" and count > torch.cuda.device_count():
        there = torch.cuda.device_count()
        raise ConfigError(f"devices: {count} requested, but this machine has {there} GPUs")


def launched() -> bool:
    """Whether `in_processes` or torchrun started this process as one of several."""
    return "TORCHELASTIC_RUN_ID" in os.environ  # others leave LOCAL_RANK behind


@contextmanager
def join_devices(device: torch.device):
    """Yield this process's `Devices`: one of several, or alone."""
    if not launched():
        yield ALONE
        return
    refuse_too_many(int(os.environ["LOCAL_WORLD_SIZE"]), device)
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, timeout=LONGEST_WAIT)
    yield Devices(torch.distributed.get_world_size(), torch.distributed.get_rank())
    # not after an error: others may wait for what never comes
    torch.distributed.destroy_process_group()


class Interrupted(Exception):
    """The run was told to stop: not a failure, and no record of it."""


@contextmanager
def noting_signals() -> Iterator[Callable[[], None]]:
    """Note SIGTERM and SIGUSR1; yield a check that raises `Interrupted` once one has come.

    The loop calls it between two updates, for an exception within one could lose what is computed.
    Outside the block a signal ends the process at once; the newest checkpoint is on the disk then.
    """
    noted: list[int] = []

    def note(number: int, frame: object) -> None:
        noted.append(number)

    def check() -> None:
        if noted:
            raise Interrupted(signal.Signals(noted[0]).name)

    before = {number: signal.signal(number, note) for number in PASSED_ON}
    try:
        yield check
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
