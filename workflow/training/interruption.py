"""A run that is told to stop saves its state, and goes on from there when it is begun again."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workflow.config.process import PASSED_ON

AGAIN = 75  # the exit status: EX_TEMPFAIL of sysexits.h, "try again later"


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
