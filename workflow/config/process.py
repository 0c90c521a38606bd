"""Snakemake's own process: one for each folder of results, and told to stop it tells its runs,
which save checkpoints.

A scheduler may tell Snakemake alone, which by itself waits until its runs have ended, however long
that takes.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from pathlib import Path

from workflow.config.errors import ConfigError

# what a scheduler sends before it takes a machine away
PASSED_ON = (signal.SIGTERM, signal.SIGUSR1)
RUN = ["-m", "workflow.scripts.train"]  # the words after Python's name in the command of a run
PR_SET_PDEATHSIG = 1  # of linux/prctl.h
_LOCKS: list[int] = []  # open as long as this process lives


def refuse_second(lock: Path, what: str) -> None:
    """Hold a lock as long as this process lives; `ConfigError` where another one has it. what: what
    it works on.

    The system frees the lock of a process that was killed. Snakemake's own outlives it: the
    profiles switch that off.
    """
    try:
        lock.parent.mkdir(exist_ok=True)
        _LOCKS.append(os.open(lock, os.O_RDWR | os.O_CREAT, 0o666))
        flock(_LOCKS[-1], LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            f"another workflow is running on {what} in this folder; wait until it has finished"
        ) from None
    except OSError as error:  # a network folder without such locks, or another user's lock
        print(
            f"cannot lock {what}, so a second workflow would go unnoticed: "
            f"{lock}: {error.strerror}",
            file=sys.stderr,
        )


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same folder, and keep others out meanwhile.

    The lock is on the folder itself and leaves no file. Where a file system has no locks, nothing
    is kept out.
    """
    lock = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            flock(lock, LOCK_EX)
        yield
    finally:
        with suppress(OSError):
            flock(lock, LOCK_UN)  # closing is not enough: a process that was forked has it open too
        os.close(lock)


def end_with_parent() -> None:
    """Let the system kill this process at the end of the thread that forked it."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def pass_on_to_runs() -> None:
    """Pass SIGTERM and SIGUSR1 of Snakemake's process on to its runs from now on.

    SIGUSR1 becomes the SIGTERM that Snakemake knows: it starts nothing more.
    """
    # a workflow that is started from Python
    if threading.current_thread() is not threading.main_thread():
        return
    numbers, written = os.pipe()
    os.set_blocking(written, False)
    # whatever handler Snakemake sets later
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    signal.signal(signal.SIGUSR1, lambda number, frame: signal.raise_signal(signal.SIGTERM))
    threading.Thread(target=_watch, args=(numbers,), daemon=True).start()


def _watch(numbers: int) -> None:
    while True:
        for number in os.read(numbers, 64):
            if number in PASSED_ON:
                _tell_runs(number)


def _tell_runs(number: int) -> None:
    """Send a signal to the runs among all that this process has started, directly or not."""
    import psutil  # imported here, as few workflows are told to stop

    for process in psutil.Process().children(recursive=True):
        try:
            if process.cmdline()[1:3] == RUN:
                process.send_signal(number)
        except psutil.Error:  # it has ended meanwhile
            continue
