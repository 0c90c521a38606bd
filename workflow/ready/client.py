"""What a script does to begin in a ready process: it hands over its words and streams, and ends as its run ends.

Where no ready process can be had, it says why and goes on by itself.
"""

import fcntl
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from workflow.config.environment import READY
from workflow.config.lifetime import keepers
from workflow.ready import place

PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
BEGUN = b"begun"


def begin(*groups: tuple[str, ...]) -> None:
    """End here, as its run in a ready process ends, if a module of a group was started: `python -m MODULE ...`.

    The modules of a group share a ready process. Called by the package of the scripts, which Python reads before the
    script. Ends at once where the workflow has ended. Returns where the script has to go on by itself: it was started
    in another way (a debugger, an option of Python's), ATTENTION_READY names no process, or there is no ready process,
    which is said on stderr.
    """
    try:
        for file in keepers():
            os.close(file)
    except OSError:
        sys.exit(1)  # before the time that the script's imports take
    module = sys.orig_argv[2] if sys.orig_argv[1:2] == ["-m"] and sys.argv[0] == "-m" else None
    group = next((each for each in groups if module in each), None)
    if group is None or os.environ.get(READY) in (None, "", "no") or sys.platform != "linux":
        return
    script = module.rpartition(".")[2]
    try:
        connection = _begun(module, group)
    except (OSError, ValueError, OverflowError) as error:
        print(f"{script}: starts by itself, as there is no ready process: {error}", file=sys.stderr)
        return
    sys.exit(_wait(connection, script))


def encoded(words: list[str]) -> bytes:
    """The words of a command as a message."""
    return b"\0".join(map(os.fsencode, words))


def decoded(message: bytes) -> list[str]:
    """The words of such a message."""
    return [os.fsdecode(word) for word in message.split(b"\0")]


def _begun(module: str, group: tuple[str, ...]) -> socket.socket:
    """A connection to the ready process of a group, in which a run of its module has begun."""
    os.kill(int(os.environ[READY]), 0)  # an error where that process has ended
    folder, code = place.folder(), place.code_digest()
    connection = _connect(folder, os.path.join(folder, place.name(group, code)), group, code)
    socket.send_fds(connection, [encoded([module, *sys.argv[1:]])], [0, 1, 2])
    with suppress(ConnectionResetError):
        if connection.recv(len(BEGUN)) == BEGUN:
            return connection
    raise ConnectionError("it ended before the run began")


def _wait(connection: socket.socket, script: str) -> int:
    """The exit status of the run, 128 more than the signal that ended it. Signals to this process are passed on."""

    def pass_on(number, frame):
        with suppress(OSError):
            connection.send(bytes([number]))

    for number in PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    files = keepers()
    if connection not in select.select([connection, *files], [], [])[0]:
        return 1  # without a word: there is nobody to hear it
    answer = connection.recv(64)
    if not answer:
        print(f"{script}: the ready process was ended, and its runs with it", file=sys.stderr)
        return 1
    status = int(answer)
    if status < 0:
        print(f"{script}: the run was ended by {signal.Signals(-status).name}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def _connect(folder: str, path: str, group: tuple[str, ...], code: str) -> socket.socket:
    """To the ready process; where there is none, to a new one. One client at a time looks, so that one starts it."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with locked(folder):
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            remove_deserted(folder)
            _start(path, group, code)
            connection.connect(path)
    return connection


def _start(path: str, group: tuple[str, ...], code: str) -> None:
    """Its socket listens before it does: who connects while it imports waits, and is told if it ends."""
    import subprocess  # one run of all pays for it

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(128)
        words = [path, ",".join(group), code, os.environ[READY], str(listener.fileno())]
        subprocess.Popen(
            [sys.executable, "-m", "workflow.ready.server", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            start_new_session=True,  # Ctrl-C is for the client
        )


def remove_deserted(folder: str) -> None:
    """The sockets of ready processes that were killed."""
    for path in (entry.path for entry in os.scandir(folder) if not entry.is_file()):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.setblocking(False)
            try:
                connection.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
            except BlockingIOError:
                pass  # more clients than it has answered yet


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Nobody else connects to a ready process, starts or ends one meanwhile."""
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
