"""One process at a time: who waits is told for whom, and a process that has ended keeps nobody waiting."""

import subprocess
import sys

import pytest

from tests._copied import ROOT
from workflow.config import hold
from workflow.config.hold import Hold, held

HOLDS = "import sys; from pathlib import Path; from workflow.config.hold import Hold; "
HOLDS += "mine = Hold(Path(sys.argv[1]), 'it'); mine.acquire(print); print('holds', flush=True); sys.stdin.read()"


@pytest.fixture
def other(tmp_path):
    """Another process that holds `.held`."""
    words = [sys.executable, "-c", HOLDS, str(tmp_path / ".held")]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "holds\n"
        yield process
        process.kill()


def test_who_waits_is_told_for_whom(other, tmp_path):
    said = []

    def say(line: str) -> None:
        said.append(line)
        other.stdin.close()  # it ends

    mine = Hold(tmp_path / ".held", "run 1")
    assert mine.acquire(say)
    first, last = said
    assert first.startswith(f"run 1: waits for process {other.pid} of ") and str(tmp_path / ".held") in first
    assert last.startswith("run 1: goes on")
    mine.release()
    assert not list(tmp_path.iterdir())


def test_nobody_waits_for_a_process_that_was_killed(other, tmp_path, capsys):
    other.kill()
    other.wait()
    with held(tmp_path / ".held", "run 1"):
        pass
    assert capsys.readouterr().out == "" and not list(tmp_path.iterdir())


def test_another_machines_process_is_given_up_when_it_is_silent(tmp_path, monkeypatch):
    """Its file as it would be on a network folder."""
    monkeypatch.setattr(hold, "SECONDS", 1.0)
    record = f"pid=1\nhost=elsewhere\nmode=lease\ntoken={'0' * 32}\nduration=1.0\nstart=1\n"
    (tmp_path / ".held").write_text(f"filelock/2\n{record}")
    said = []
    mine = Hold(tmp_path / ".held", "run 1")
    assert mine.acquire(said.append) and "process 1 of " in said[0] and "on elsewhere" in said[0]
    mine.release()
