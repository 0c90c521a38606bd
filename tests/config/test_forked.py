"""A script in a fork says, writes and returns what it does in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from workflow.config import forked
from workflow.config.files import ROOT

FORKED, PLAIN = [*forked.THIS], [sys.executable, "-m"]
CONFIG = '{"scale": "smoke"}'


@pytest.fixture
def server(monkeypatch, tmp_path):
    """The process that forks, as Snakemake's starts it."""
    (tmp_path / "forked").mkdir()
    monkeypatch.chdir(tmp_path / "forked")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv(forked.ADDRESS, "")  # put back at the end
    Path("forks").write_text("what a killed one left")
    forked.start(Path("forks"))
    with forked._STARTED.pop() as process:  # its end closes the standard input, and waits
        yield process


def said(command: list[str], folder: Path) -> tuple[int, str, str]:
    folder.mkdir(exist_ok=True)
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=os.environ, timeout=120
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize(
    "words", [["plan", "results/smoke/plan.json", "--config", CONFIG], ["question", "--sclae"]]
)
def test_a_script_in_a_fork_does_what_it_does_by_itself(server, tmp_path, words):
    """Whether it succeeds or is refused in a line."""
    script, *rest = words
    in_fork = said([*FORKED, *words], tmp_path / "forked")
    assert in_fork == said([*PLAIN, f"workflow.scripts.{script}", *rest], tmp_path / "plain")
    assert in_fork[0] == (0 if script == "plan" else 2)
    made = [
        {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*.json")}
        for folder in tmp_path.iterdir()
    ]
    assert made[0] == made[1] and bool(made[0]) == (script == "plan")


def test_where_nobody_forks_a_script_starts_by_itself(server, tmp_path):
    server.stdin.close()
    assert server.wait(60) == 0
    assert not [*Path().iterdir()]  # it ended with its standard input, and left nothing
    code, out, errors = said([*FORKED, "question", "--help"], Path())
    assert code == 0 and out.startswith("usage: question") and not errors


def test_a_script_that_was_killed_ended_as_a_shell_says_it():
    ours, theirs = socket.socketpair()
    child = get_context("fork").Process(target=lambda: os.kill(os.getpid(), signal.SIGKILL))
    child.start()
    forked.answer(child, theirs)
    assert ours.recv(1) == bytes([128 + signal.SIGKILL])
    ours.close()
