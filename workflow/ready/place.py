"""Where the ready process of a group of scripts is found.

It must be what a process of the script's own would be. So its socket is named for all that a process has from its start
and keeps: another environment, other limits, other code, and there is another ready process. Nothing needs to be sent
but the words of a command, and its streams. Every run waits for this file, which is why it imports next to nothing.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CODE = ("models", "workflow")
SHELLS_OWN = ("_", "OLDPWD", "PWD", "SHLVL")  # variables that differ between commands, and that nothing here reads
STATUS = ("Umask", "Uid", "Gid", "Groups", "Sig", "Cap", "Seccomp", "Cpus_allowed:", "Mems_allowed:")
PENDING = ("SigQ", "SigPnd")  # of the moment


def folder() -> str:
    """Where this user's sockets are, made where it is missing. `OSError` where others may enter it."""
    path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"attention-ready-{os.getuid()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(0, "expected a folder that its user alone may enter", path)
    return path


def name(group: tuple[str, ...], code: str) -> str:
    """Of the socket, for a group of scripts and what `code_digest` says."""
    variables = sorted(item for item in os.environ.items() if item[0] not in SHELLS_OWN)
    python = (sys.executable, sys.version, os.getcwd(), os.uname().nodename)
    return _digest((group, code, python, variables, os.getpriority(os.PRIO_PROCESS, 0), *_inherited()))


def code_digest() -> str:
    """Of the suite's code (names, sizes, times of change) and of the folders of packages (times of change)."""
    files = [entry for part in CODE for entry in _files(os.path.join(ROOT, part))]
    packages = [(path, os.stat(path).st_mtime_ns) for path in sys.path if path.endswith("-packages")]
    return _digest((sorted(files), packages))


def _files(directory: str) -> Iterator[tuple]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path) if entry.name != "__pycache__" else ()
            elif entry.name.endswith(".py"):
                about = entry.stat()
                yield entry.path, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _inherited() -> Iterator[object]:
    """What the kernel hands from a process to those that it starts: rights, limits, processors, group, namespaces."""
    with open("/proc/self/status") as lines:
        yield [line for line in lines if line.startswith(STATUS) and not line.startswith(PENDING)]
    for part in ("limits", "cgroup", "oom_score_adj"):
        with open(f"/proc/self/{part}") as file:
            yield file.read()
    yield sorted(os.readlink(f"/proc/self/ns/{kind}") for kind in os.listdir("/proc/self/ns"))


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]
