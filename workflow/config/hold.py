"""One process at a time, on network folders too: a workflow in its results, a training in its run, a download.

Relied upon is filelock's `SoftFileLease`: a file that one process alone can create, with its host and number in it, and
that it touches while it lives. Who waits takes it over at once where its own host knows that the process has ended,
else after `SECONDS`, by its own clock, in which it was not touched. No lock of the operating system, which network
folders may lack.
"""

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 120.0  # a network folder may show a change a minute late
LOOK = 1.0  # seconds between two looks of who waits


class Hold:
    """The right to do something, shown by the file `path`. what: begins the lines for who waits."""

    def __init__(self, path: Path, what: str):
        from filelock import SoftFileLease  # a dry run does without

        self.path, self.what = path, what
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lease = SoftFileLease(self.path, lease_duration=SECONDS, thread_local=False)

    def acquire(self, say: Callable[[str], None]) -> bool:
        """Whether another process had to end first: `say` gets a line for each that does."""
        from filelock import Timeout

        told, patience = None, 0.3  # long enough to find out that a process has ended
        while True:
            try:
                self.lease.acquire(timeout=patience, poll_interval=min(LOOK, patience / 3))
            except Timeout:
                patience = 60.0
                if (owner := self.owner()) not in (None, told):
                    say(f"{self.what}: waits for {owner}, which holds {self.path.resolve()}")
                    told = owner
                continue
            except OSError as error:
                error.filename = error.filename or str(self.path)
                raise
            if told:
                say(f"{self.what}: goes on, {told} has ended")
            return told is not None

    def owner(self) -> str | None:
        """Who has it, as far as the file tells."""
        if (record := self.lease.owner) is None:
            return None
        try:
            user = self.path.owner()
        except (OSError, KeyError):
            user = "an unknown user"
        return f"process {record.pid} of {user} on {record.hostname}"

    def release(self) -> None:
        self.lease.release()


@contextmanager
def held(path: Path, what: str) -> Iterator[None]:
    """One process at a time runs the block."""
    hold = Hold(path, what)
    hold.acquire(lambda line: print(line, flush=True))
    try:
        yield
    finally:
        hold.release()


def take_turn(folder: Path, what: str, begun_in: str) -> None:
    """Work in a folder until this process ends. Where another had to end first, its command begins again.

    For what there is to do was found out before the other ended. begun_in: the folder in which the command was given.
    """
    hold = Hold(folder / ".held", what)
    waited = hold.acquire(lambda line: print(line, file=sys.stderr, flush=True))
    if not waited:
        atexit.register(hold.release)
        return
    hold.release()
    sys.stdout.flush()
    os.chdir(begun_in)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
