"""Told to stop, a run keeps what it has computed; begun again, it ends with the numbers of one
never interrupted.
"""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import bitext, corpus, job, translation
from tests._training import CPU, start, train_command, write_job
from workflow.results.record import read_record
from workflow.scripts.train import train_or_save
from workflow.tasks import store as pairs
from workflow.tasks.char_lm import store
from workflow.training import checkpoint
from workflow.training.interruption import AGAIN
from workflow.training.run import Run

# backends: how often each computed
OF_A_SITTING = {"cost": {"seconds", "tokens_per_s", "peak_memory_bytes", "backends"}}
OF_A_SITTING |= {
    "origin": {"started"},
    "curve": {"__all__": {"tokens_per_s"}},
    "log": True,
    "contents": True,
}


def begun(folder: Path, data: Path) -> subprocess.Popen:
    words = train_command(folder, data)
    return subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True
    )


def interrupted(folder: Path, data: Path, number: int, to_all: bool) -> int:
    """Tell a run to stop after the first point of its curve; return its exit status. to_all: all
    its processes.
    """
    with begun(folder, data) as run:
        assert "step 20 " in run.stdout.readline()
        (os.killpg if to_all else os.kill)(run.pid, number)
        run.stdout.read()
    return run.returncode


def outcome(folder: Path) -> tuple[dict, bytes]:
    """Read record and weights."""
    record = read_record(folder / "record.json").model_dump(exclude=OF_A_SITTING)
    return record, (folder / "weights.pt").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "number, to_all, status",
    [
        (signal.SIGTERM, False, AGAIN),
        (signal.SIGUSR1, True, AGAIN),
        (signal.SIGKILL, True, -signal.SIGKILL),
    ],
)
def test_an_interrupted_run_ends_with_the_same_bits(number, to_all, status, tmp_path):
    """Told to stop, it has no checkpoint but the one that it writes then; killed, the last of every
    five steps.
    """
    text = number == signal.SIGTERM
    (store if text else pairs).write(tmp_path / "toy.npz", corpus() if text else bitext())
    every = 5 if number == signal.SIGKILL else 10_000
    small = (job if text else translation)(steps=80, evaluate_every=20, checkpoint_every=every)
    for name in ("whole", "stopped"):
        write_job(small, tmp_path / name)
    assert interrupted(tmp_path / "stopped", tmp_path / "toy.npz", number, to_all) == status
    finished = {"job.json", "checkpoint.pt"}
    assert finished == {
        path.name for path in (tmp_path / "stopped").iterdir() if not path.name.startswith(".")
    }
    state = checkpoint.load(tmp_path / "stopped" / "checkpoint.pt", small.digest, CPU)
    assert (15 if number == signal.SIGKILL else 20) <= state["step"] < 80
    for name in ("stopped", "whole"):
        with begun(tmp_path / name, tmp_path / "toy.npz") as run:
            assert (f"resumed at step {state['step']}" in run.stdout.read()) == (name == "stopped")
        assert run.returncode == 0
    assert outcome(tmp_path / "stopped") == outcome(tmp_path / "whole")
    left = [{path.name for path in (tmp_path / name).iterdir()} for name in ("stopped", "whole")]
    assert left[0] == left[1]


def test_a_second_signal_does_not_break_off_what_is_being_saved(tmp_path, monkeypatch):
    saved = []

    def save(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        saved.append(self.step)

    monkeypatch.setattr(Run, "save", save)
    run = start(job(), tmp_path)
    monkeypatch.setattr(run.task, "after_step", lambda *_: signal.raise_signal(signal.SIGUSR1))
    with pytest.raises(SystemExit) as ended:
        train_or_save(run)
    assert ended.value.code == AGAIN and saved == [1]
