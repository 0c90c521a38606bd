"""Told to stop, a run keeps what it has; begun again, it ends as one never interrupted."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import corpus, job
from tests._training import CPU, start, train_command, write_job
from workflow.results.record import read_record
from workflow.scripts.train import train_or_save
from workflow.tasks.char_lm import store
from workflow.training import checkpoint
from workflow.training.processes import AGAIN
from workflow.training.run import Run

# what differs between sittings; backends: how often each computed
OF_A_SITTING = {
    "cost": {"seconds", "tokens_per_s", "peak_memory_bytes", "backends"},
    "origin": {"started"},
    "curve": {"__all__": {"tokens_per_s"}},
    "log": True,
    "contents": True,
}


def begun(folder: Path, data: Path) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    return subprocess.Popen(train_command(folder, data), cwd=ROOT, start_new_session=True, **pipes)


def outcome(folder: Path) -> tuple[dict, bytes]:
    """Read record and weights."""
    record = read_record(folder / "record.json").model_dump(exclude=OF_A_SITTING)
    return record, (folder / "weights.pt").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "number, tell, status, every",
    [
        # told to stop, it has no checkpoint but the one that it writes then
        (signal.SIGTERM, os.kill, AGAIN, 10_000),
        # killed, it has the last of every five steps
        (signal.SIGKILL, os.killpg, -signal.SIGKILL, 5),
    ],
)
def test_an_interrupted_run_ends_with_the_same_bits(number, tell, status, every, tmp_path):
    small = job(steps=80, evaluate_every=20, checkpoint_every=every)
    data = tmp_path / "toy.npz"
    store.write(data, corpus())
    stopped = write_job(small, tmp_path / "stopped").parent
    whole = write_job(small, tmp_path / "whole").parent
    with begun(stopped, data) as run:
        assert "step 20 " in run.stdout.readline()
        tell(run.pid, number)
        run.stdout.read()
    assert run.returncode == status
    left = {path.name for path in stopped.glob("[!.]*")}
    assert left == {"job.json", "checkpoint.pt"}
    state = checkpoint.load(stopped / "checkpoint.pt", small.digest, CPU)
    step = state["step"]
    assert 15 <= step < 80
    for folder in (stopped, whole):
        with begun(folder, data) as run:
            printed = run.stdout.read()
        assert run.returncode == 0
        assert (f"resumed at step {step}" in printed) == (folder == stopped)
    assert outcome(stopped) == outcome(whole)


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
    assert ended.value.code == AGAIN
    assert saved == [1]
