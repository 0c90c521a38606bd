"""Commands that fail for real, in processes of their own, and small disks to fill."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests._copied import ROOT, copied
from tests._jobs import corpus
from tests._training import train_command, write_job
from workflow.config.job import Job
from workflow.tasks.char_lm import store


def train(job: Job, folder: Path, at: Path = ROOT, **options) -> subprocess.CompletedProcess:
    """Run the command of a run to its end, on the small corpus of the tests."""
    data = folder.parent / "toy.npz"
    store.write(data, corpus())
    write_job(job, folder)
    command = train_command(folder, data)
    return subprocess.run(command, cwd=at, stderr=subprocess.PIPE, text=True, **options)


def assert_done(said: subprocess.CompletedProcess) -> None:
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]


@contextmanager
def mounted(folder: Path, *words: str) -> Iterator[Path]:
    """Mount something at a new folder; the test is skipped where that is not allowed."""
    folder.mkdir()
    command = ["mount", *words, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
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
    free = system.f_bavail * system.f_frsize
    filled = max(1, free - count)
    with open(disk / "filler", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, filled)


def broken(suite: Path, statement: str) -> Path:
    """Copy the project; its compiled attention begins with a statement in C."""
    suite.mkdir(exist_ok=True)
    file = copied(suite) / "models" / "kernels" / "compiled" / "attention.c"
    head = re.compile(r"^void attend\(const attention \*a\) \{$", re.MULTILINE)
    includes = "#include <signal.h>\n#include <unistd.h>\n"
    text, count = head.subn(rf"{includes}\g<0>\n    {statement}", file.read_text())
    assert count == 1
    file.write_text(text)
    return suite
