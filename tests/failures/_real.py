"""Commands that fail for real, in processes of their own, and small disks to fill."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import corpus
from tests._training import write_job
from workflow.config.job import Job
from workflow.tasks.char_lm import store


def run(*words: str, at: Path = ROOT, limit: Callable | None = None, **variables: str) -> subprocess.CompletedProcess:
    """`python -m words` to its end. limit: called in the process before it starts."""
    environment = {**os.environ, "PYTHONPATH": str(at), **variables}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, preexec_fn=limit)


def train(job: Job, folder: Path, *more: str, **options) -> subprocess.CompletedProcess:
    """The command of a run, on the small text of the tests."""
    data = folder.parent / "toy.npz"
    store.write(data, corpus())
    words = [str(write_job(job, folder)), "--data", str(data), "--device", "cpu", *more]
    return run("workflow.scripts.train", *words, **options)


def line_of(ended: subprocess.CompletedProcess, status: int) -> str:
    """What a command that refuses says: one line."""
    lines = ended.stderr.strip().splitlines()
    assert ended.returncode == status and len(lines) == 1, ended.stderr[-2000:]
    return lines[0]


@contextmanager
def mounted(folder: Path, *words: str) -> Iterator[Path]:
    """Something mounted at a new folder while the block runs. The test is skipped where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", *words, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def leave_free(disk: Path, count: int) -> None:
    """Fill a small disk but for so many bytes."""
    (disk / "filler").unlink(missing_ok=True)
    system = os.statvfs(disk)
    with open(disk / "filler", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, system.f_bavail * system.f_frsize - count))


def broken(suite: Path, statement: str) -> Path:
    """A copy of the project whose compiled attention begins with a statement in C."""
    file = suite / "models" / "kernels" / "compiled" / "attention.c"
    head = re.compile(r"^void attend\(const attention \*a\) \{$", re.MULTILINE)
    text, count = head.subn(f"#include <signal.h>\n#include <unistd.h>\n\\g<0>\n    {statement}", file.read_text())
    assert count == 1
    file.write_text(text)
    return suite
