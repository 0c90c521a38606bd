"""Run a script in a fork of a process that has its imports: `python -m workflow.config.forked
question NAME ...`.

A page takes a second or two to make, and what it imports (pandas, matplotlib) as long again. So one
process imports it while the plan is made, and forks for each page. Where there is no such process
(on a cluster, in a container), or it does not answer, the script starts as any other. Its output,
its exit status and what it writes are the same.
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

# the variable that holds the address of the socket, relative to the folder where all run
ADDRESS = "ATTENTION_FORKS"
IMPORTED = "workflow.scripts.question"  # with it comes most of what any page needs
THIS = [sys.executable, "-m", "workflow.config.forked"]
_STARTED: list[subprocess.Popen] = []  # open as long as this process lives


def start(address: Path) -> None:
    """Start the process that forks, where that is possible.

    It ends with this process, because its standard input then ends. address: of its socket. What a
    killed process left there is replaced.
    """
    os.environ[ADDRESS] = str(address)
    process = subprocess.Popen(
        THIS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    _STARTED.append(process)
    process.stdout.read(1)  # returns once it listens, or has ended


def serve(address: Path) -> None:
    """Fork for each script that is asked for, until the process that started this one has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the scripts
    address.unlink(missing_ok=True)
    children = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        print(".", end="", flush=True)
        prepare()  # on a core that Snakemake leaves idle
        while True:
            ready = wait([listener, sys.stdin, *children])
            if sys.stdin in ready:
                break
            for each in ready:
                if each is not listener:
                    child, client = children.pop(each)
                    answer(child, client)
                    continue
                client, _ = listener.accept()
                child = get_context("fork").Process(target=work, args=(client,))
                child.start()
                children[child.sentinel] = (child, client)
    address.unlink()


def prepare() -> None:
    """Import and read what most pages need, before the first one is asked for."""
    with suppress(ConfigError):  # the page that needs it says what is wrong
        import_module(IMPORTED).prepare()
    # A fork ends within seconds. Looking for cycles takes a twelfth of them and frees next to
    # nothing.
    gc.disable()


def answer(child, client: socket.socket) -> None:
    """Tell a client how its script ended, as a shell does: 128 and the signal that killed it."""
    child.join()
    status = child.exitcode
    if status < 0:
        status = 128 - status
    with client, suppress(OSError):  # the client may have been killed meanwhile
        client.sendall(bytes([status]))


def work(client: socket.socket) -> None:
    """Run the script that a client names, with its arguments and its output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _, outputs, _, _ = socket.recv_fds(client, 1, 2)
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
    with client.makefile() as asked:
        script, *arguments = asked.read().split("\0")
    sys.argv = [f"{script}.py", *arguments]
    run(import_module(f"workflow.scripts.{script}").main)


def ask(address: str, words: list[str]) -> int:
    """Return how a script ended; `OSError` where nobody answers. words: its name and arguments."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b" "], [1, 2])
        server.sendall("\0".join(words).encode())
        server.shutdown(socket.SHUT_WR)
        end = server.recv(1)
    if not end:
        raise ConnectionError("the process that forks has exited")
    return end[0]


def main() -> None:
    script, *arguments = sys.argv[1:]
    with suppress(OSError):
        sys.exit(ask(os.environ.get(ADDRESS, ""), [script, *arguments]))
    os.execv(sys.executable, [sys.executable, "-m", f"workflow.scripts.{script}", *arguments])


if __name__ == "__main__":
    main() if sys.argv[1:] else serve(Path(os.environ[ADDRESS]))
