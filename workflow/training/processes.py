"""A run in processes of its own, one for each device: where one of them crashes, the one that waits
knows why.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection
from typing import NoReturn

import torch

from workflow.config.errors import ConfigError
from workflow.config.process import PASSED_ON, end_with_parent
from workflow.training.failures import Ended
from workflow.training.interruption import AGAIN

ATTEMPTS = 3
# torch is imported; the process that starts others has touched no GPU
FORK = multiprocessing.get_context("fork")


def in_processes(count: int, work: Callable[[], None]) -> NoReturn:
    """Call `work` in `count` forks and exit as they did; `Ended` where one crashed, or raise what
    one could not do.

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
        raise Ended(
            "oom", f"the process was killed {ATTEMPTS} times, probably because memory ran out"
        )
    if -status in PASSED_ON:
        sys.exit(AGAIN)
    if status < 0 and status != -signal.SIGINT:
        which = "the process" if count == 1 else f"one of {count} processes"
        raise Ended("error", f"{which} was ended by {signal.Signals(-status).name}")
    sys.exit(status if status >= 0 else 128 - status)


def _attempt(count: int, work: Callable[[], None]) -> int:
    """Start the forks and wait for them: 0, the first other exit status, or below 0 the signal that
    ended one.
    """
    told, tell = FORK.Pipe(duplex=False)  # no queue, whose lock needs shared memory
    # several find each other through a store of this process, in the way of torchrun's
    store = (
        torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        if count > 1
        else None
    )
    variables = [_variables(rank, count, store.port) if store else {} for rank in range(count)]
    forks = [FORK.Process(target=_work, args=(work, tell, each)) for each in variables]
    for fork in forks:
        fork.start()
    status = _wait_for(forks)
    if status > 0 and told.poll():
        raise told.recv()
    return status


def _variables(rank: int, count: int, port: int) -> dict[str, str]:
    """Make the environment of one of several processes, as torchrun sets it and `join_devices`
    reads it.
    """
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
    store = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": True}
    launch = {"TORCHELASTIC_RUN_ID": "run", "TORCHELASTIC_RESTART_COUNT": 0}
    return {name: str(value) for name, value in {**place, **store, **launch}.items()}


def _work(work: Callable[[], None], tell, variables: dict[str, str]) -> None:
    """Do the work of one process; what it cannot go on with is told to the one that waits."""
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
    """Wait for all; where one fails, end the others, which would wait for it. Return its status,
    below 0 a signal's.
    """

    def pass_on(number: int, frame: object) -> None:
        for fork in forks:
            with suppress(ProcessLookupError):
                os.kill(fork.pid, number)

    for number in PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the forks too
    status, running = 0, forks
    while running:
        connection.wait([fork.sentinel for fork in running])
        now = {fork: fork.exitcode for fork in running}
        # what was ended by a signal first: others that lost their connection to it may have ended
        # since
        status = status or min(filter(None, now.values()), default=0)
        running = [fork for fork, ended in now.items() if ended is None]
        if status not in (0, AGAIN):
            for fork in running:
                fork.kill()
    return status
