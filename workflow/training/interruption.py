"""A run that is told to stop keeps what it has computed, and ends so that it is begun again.

A scheduler sends SIGTERM or SIGUSR1 before it takes a machine away, because another job comes first or the time that
was asked for is up. Between two updates the run then writes its checkpoint and exits with AGAIN, which no other end of
a run has; the same command later ends with the numbers of a run that was never interrupted.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
AGAIN = 75  # the exit status: EX_TEMPFAIL of sysexits.h, "try again later"


class Interrupted(Exception):
    """The run was told to stop: not a failure, and no record of it."""


class Stop:
    """Whether the run was told to stop; outside of updates it then ends at once, for the newest checkpoint is there."""

    def __init__(self):
        self.told, self.waits = "", False

    def tell(self, number: int, frame: object = None) -> None:
        """What a signal does."""
        self.told = signal.Signals(number).name
        if not self.waits:
            self.end()

    def check(self) -> None:
        """Between two updates: `Interrupted` where the run was told to stop."""
        if self.told:
            raise Interrupted(self.told)

    def end(self) -> None:
        self.waits = True  # a second signal must not break off what ends the process
        raise SystemExit(AGAIN)

    @contextmanager
    def between_updates(self, save: Callable[[], None]) -> Iterator[None]:
        """While the block runs, a run that is told to stop ends where it calls `check`, after `save`.

        Nothing else ends it: an exception in the middle of an update could lose what is computed, or the process.
        """
        self.waits = True
        try:
            yield
            self.waits = False
            self.check()  # told during the last update
        except Interrupted as interrupted:
            save()
            print(f"{interrupted}: stopped; begun again, the run goes on from its checkpoint", flush=True)
            self.end()


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A `Stop` that is told by SIGTERM and SIGUSR1 while the block runs."""
    stop = Stop()
    before = {number: signal.signal(number, stop.tell) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
