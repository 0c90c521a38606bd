"""A suite of two scripts that need nothing, so that what is tested is how they start."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests._copied import ROOT

SCRIPT = """
import os, random, resource, sys, time
import numpy
{more}

def main():
    words = sys.argv[1:]
    if words[0] == "say":
        print(*words[1:], "on", os.getppid())
    elif words[0] == "count":
        print(os.path.basename(sys.argv[0]), len(words))
    elif words[0] == "draw":
        print(random.random(), numpy.random.random())
    elif words[0] == "exit":
        sys.exit(int(words[1]))
    elif words[0] == "raise":
        raise ZeroDivisionError("as asked for")
    elif words[0] == "hold":
        resource.setrlimit(resource.RLIMIT_DATA, (int(words[2]) << 20, resource.RLIM_INFINITY))
        held = b"1" * (int(words[1]) << 20)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
    elif words[0] == "abort":
        os.abort()
    elif words[0] == "read":
        print(sys.stdin.read().upper(), file=sys.stderr)
    elif words[0] == "wait":
        open(words[1], "w").write(str(os.getpid()))
        print("waiting")
        time.sleep(float(words[2]))
        print("waited")

if __name__ == "__main__":
    from workflow.config.command_line import run
    run(main)
"""
PACKAGE = """
from workflow.ready.client import begin

begin(("workflow.scripts.toy", "workflow.scripts.twin"))
"""


class Toy:
    """The suite in `folder`, its ready processes ending with `master`, and their sockets in `sockets`."""

    def __init__(self, folder: Path, master: int | str):
        self.folder, self.sockets = folder, folder / f"attention-ready-{os.getuid()}"
        for part in ("ready", "config"):
            shutil.copytree(ROOT / "workflow" / part, folder / "workflow" / part)
        (folder / "workflow" / "scripts").mkdir()
        (folder / "workflow" / "scripts" / "__init__.py").write_text(PACKAGE)
        (folder / "models").mkdir()
        self.write()
        self.environment = {**os.environ, "TMPDIR": str(folder), "ATTENTION_READY": str(master), "PYTHONPATH": ""}

    def write(self, more: str = "") -> None:
        """The scripts, with a line of their own."""
        for script in ("toy", "twin"):
            (self.folder / "workflow" / "scripts" / f"{script}.py").write_text(SCRIPT.format(more=more))

    def start(self, *words: str, script: str = "toy", **variables: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"workflow.scripts.{script}", *words]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(command, cwd=self.folder, env=self.environment | variables, text=True, **pipes)

    def run(self, *words: str, given: str = "", script: str = "toy", **variables: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr."""
        process = self.start(*words, script=script, **variables)
        out, error = process.communicate(given, timeout=60)
        return process.returncode, out.strip(), error.strip()

    def begun(self, *words: str) -> tuple[subprocess.Popen, int]:
        """The client of `wait`, once its run has begun, and the number of the run's process."""
        place = self.folder / f"begun-{time.monotonic_ns()}"
        process = self.start("wait", str(place), *words)
        eventually(lambda: place.exists() and place.read_text())
        return process, int(place.read_text())

    def ready(self) -> list[int]:
        """The numbers of the ready processes, which lead a session of their own."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            number = int(path.parent.name)
            if "workflow.ready.server" in words and str(self.sockets) in words[3] and os.getsid(number) == number:
                found.append(number)
        return found


def eventually(true: Callable, seconds: float = 30) -> None:
    """Wait until it is; a failure after `seconds`."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def lives(number: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
