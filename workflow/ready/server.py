"""A ready process: `python -m workflow.ready.server SOCKET MODULES CODE PROCESS LISTENER`, started by a client.

It imports MODULES, computes nothing, and forks for each client. The forked process is what the client's own would be
once it has imported all: its memory, limits, random states and end are nobody else's. The ready process ends when
PROCESS has ended, or when nobody has come for a while; at once where the code is no longer that of the digest CODE.
"""

import gc
import os
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import ModuleType

from workflow.config.command_line import run
from workflow.config.lifetime import end_with_parent
from workflow.ready import place
from workflow.ready.client import BEGUN, decoded, locked

IDLE = 60.0  # seconds
LONGEST = 1 << 18  # bytes of a command
OF_RUNS = (signal.SIGTERM, signal.SIGUSR1)  # a scheduler sends them to all that a job has started


@dataclass(frozen=True)
class Run:
    """A forked process and its client. ended: a file that can be read when the process has ended."""

    process: BaseProcess
    client: socket.socket
    ended: int

    def finish(self) -> None:
        """Tell the client how the process ended; wait for it where it has not."""
        self.process.join()
        os.close(self.ended)
        with self.client, suppress(OSError):
            self.client.send(str(self.process.exitcode).encode())

    def pass_on(self) -> bool:
        """The signal that the client sends; SIGKILL where the client has ended. Whether the client is still there."""
        try:
            message = self.client.recv(1)
        except OSError:
            message = b""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, message[0] if message else signal.SIGKILL)
        return bool(message)


class Server:
    """Forks for whoever connects to `listener`; `path` is the listener's, `modules` are the scripts, by their names."""

    def __init__(self, listener: socket.socket, path: str, modules: dict[str, ModuleType]):
        self.listener, self.path, self.modules = listener, path, modules
        self.runs: list[Run] = []
        self.open = True

    def serve(self, master: int, idle: float = IDLE) -> None:
        """Until the process of the file `master` has ended, or nobody came for `idle` seconds; then until runs end."""
        while self.open or self.runs:
            sources = [source for each in self.runs for source in (each.client, each.ended)]
            sources += [self.listener, master] if self.open else []
            ready = wait(sources, None if self.runs else idle)
            for each in list(self.runs):
                if each.ended in ready or (each.client in ready and not each.pass_on()):
                    self.runs.remove(each)
                    each.finish()
            if self.listener in ready:
                self.begin()
            if master in ready or not ready:
                self.close(force=bool(ready))

    def begin(self) -> None:
        """Fork for the next client. One that is gone, or whose words are cut off or for another script, is let go."""
        client, _ = self.listener.accept()
        files: list[int] = []
        try:
            client.settimeout(1)
            message, files, flags, _ = socket.recv_fds(client, LONGEST, 3)
            client.settimeout(None)
            name, *words = decoded(message)
            if name in self.modules and len(files) == 3 and not flags & socket.MSG_TRUNC:
                self.fork(client, name, words, files)
            else:
                client.close()
        except OSError:
            client.close()
        for file in files:
            os.close(file)

    def fork(self, client: socket.socket, name: str, words: list[str], files: list[int]) -> None:
        """A process that becomes the run. name, words, files: the client's module, words and streams."""
        process = get_context("fork").Process(target=self.become, args=(self.modules[name], words, files), name=name)
        process.start()
        with suppress(OSError):  # here and there, whoever is first: from now on signals reach all that the run starts
            os.setpgid(process.pid, process.pid)
        self.runs.append(Run(process, client, os.pidfd_open(process.pid)))
        with suppress(OSError):  # one that has gone meanwhile is found out as any other
            client.send(BEGUN)

    def become(self, module: ModuleType, words: list[str], files: list[int]) -> None:
        """In the forked process: be what `python -m module words` is when it has imported all.

        It ends as multiprocessing ends it, without taking libraries down: to free their pages is to copy them first.
        """
        os.setpgid(0, 0)
        for number in OF_RUNS:
            signal.signal(number, signal.SIG_DFL)
        end_with_parent()  # no run outlives what reports its end
        self.listener.close()
        for each in self.runs:
            each.client.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing gives none
        sys.stdout.reconfigure(line_buffering=os.isatty(1))
        sys.argv = [module.__file__, *words]
        if "numpy" in sys.modules:  # a fork seeds Python's own generator anew, and not numpy's; torch's is constant
            sys.modules["numpy"].random.seed()
        run(module.main)

    def close(self, force: bool) -> None:
        """Take no more clients. Unless forced: only if none is waiting; no other comes while the folder is locked."""
        with locked(os.path.dirname(self.path)):
            if not force and wait([self.listener], 0):
                return
            with suppress(FileNotFoundError):
                os.unlink(self.path)
            self.listener.close()
            self.open = False


def main(path: str, names: str, code: str, master: str, listener: str) -> None:
    """The words of the command, in their order. It ends with its runs, and they end as they are told to."""
    for number in OF_RUNS:
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=int(listener)) as listening:
        modules = {name: import_module(name) for name in names.split(",")}
        gc.collect()
        gc.freeze()  # the collector of a forked process would write to, and so copy, every page
        if place.code_digest() == code:
            Server(listening, path, modules).serve(os.pidfd_open(int(master)))


if __name__ == "__main__":
    main(*sys.argv[1:])
