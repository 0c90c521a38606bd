"""Run a script in a fork of a process that has its imports: `python -m workflow.config.forked
question NAME ...`.

A page takes a second to make, and what it imports (pandas, matplotlib) twice that. So one process
beside Snakemake's imports it while the plan is made, and forks for each page. Where there is none
(on a cluster, in a container) or it does not answer, the script starts as any other. Its output,
its exit and what it writes are the same.
"""

import gc
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path

from workflow.config.command_line import run
from workflow.config.errors import ConfigError

# the variable that says by which socket it is asked, from the folder where all run
ADDRESS = "ATTENTION_FORKS"
IMPORTED = "workflow.scripts.question"  # with it comes most of what any page needs
THIS = [sys.executable, "-m", "workflow.config.forked"]
_STARTED: list[subprocess.Popen] = []  # open as long as this process lives


def start(address: Path) -> None:
    """Start the process that forks, where it can; it ends with this one, as its standard input does
    then.

    address: of its socket, from this folder. It is the process's alone: what a killed one left
    there is replaced.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    os.environ[ADDRESS] = str(address)
    _STARTED.append(subprocess.Popen(THIS, **pipes))
    _STARTED[-1].stdout.read(1)  # once it listens, or has ended


def serve(address: Path) -> None:
    """Fork for each script that is asked for, until whoever started this process has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the scripts
    address.unlink(missing_ok=True)
    children = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        print(".", end="", flush=True)
        prepare()  # on a core that Snakemake leaves idle
        while sys.stdin not in (ready := wait([listener, sys.stdin, *children])):
            for each in ready:
                if each is listener:
                    client, _ = listener.accept()
                    child = get_context("fork").Process(target=work, args=(client,))
                    child.start()
                    children[child.sentinel] = child, client
                else:
                    answer(*children.pop(each))
    address.unlink()


def prepare() -> None:
    """Import what most pages need and read what is the same for all of them, while Snakemake has
    not asked yet.
    """
    with suppress(ConfigError):  # whose page it is says so
        import_module(IMPORTED).prepare()
    # a fork ends within seconds; to look for cycles takes a twelfth of them and frees next to
    # nothing
    gc.disable()


def answer(child, client: socket.socket) -> None:
    """Tell a client how its script ended, as a shell would: 128 and the signal by which it was
    killed.
    """
    child.join()
    with client, suppress(OSError):  # it was killed meanwhile
        client.sendall(bytes([child.exitcode if child.exitcode >= 0 else 128 - child.exitcode]))


def work(client: socket.socket) -> None:
    """Run the script that a client names, with its words, in its output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _, places, _, _ = socket.recv_fds(client, 1, 2)
    for number, place in enumerate(places, start=1):
        os.dup2(place, number)
    with client.makefile() as asked:
        script, *words = asked.read().split("\0")
    sys.argv = [f"{script}.py", *words]
    run(import_module(f"workflow.scripts.{script}").main)


def ask(address: str, words: list[str]) -> int:
    """Return how a script ended; `OSError` where nobody answers. words: its name, and what it is
    told.
    """
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b" "], [1, 2])
        server.sendall("\0".join(words).encode())
        server.shutdown(socket.SHUT_WR)
        if end := server.recv(1):
            return end[0]
    raise ConnectionError("the server process has exited")


def main() -> None:
    script, *words = sys.argv[1:]
    with suppress(OSError):
        sys.exit(ask(os.environ.get(ADDRESS, ""), [script, *words]))
    os.execv(sys.executable, [sys.executable, "-m", f"workflow.scripts.{script}", *words])


if __name__ == "__main__":
    main() if sys.argv[1:] else serve(Path(os.environ[ADDRESS]))
