"""A disk that is full, for real: one line that names the file, and nothing half-written."""

import errno
import os
import sys
from pathlib import Path

import pytest

from tests._jobs import corpus, job
from tests._training import train_command, write_job
from tests.failures._real import leave_free, mounted, train
from workflow.config.command_line import run
from workflow.config.files import CannotWrite
from workflow.scripts import corpus as corpus_script
from workflow.scripts import plan
from workflow.scripts import train as train_script
from workflow.tasks.char_lm import store
from workflow.training.failures import attempt

pytestmark = pytest.mark.slow
FULL = ": No space left on device"


@pytest.fixture
def disk(tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs") as folder:
        yield folder


@pytest.fixture
def refused(disk, capsys, monkeypatch):
    """Run a script until it refuses; return the name of the file in its line."""

    def refuse(work, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["script", *words])
        with pytest.raises(SystemExit) as ended:
            run(work)
        said = capsys.readouterr().err
        line = said.strip().splitlines()[-1]
        assert ended.value.code == 1
        assert line.endswith(FULL), line
        assert not list(disk.rglob(".*")), "something was left half-written"
        place = line.removesuffix(FULL).split(": ")[-1]
        return Path(place).name

    return refuse


def test_each_file_of_a_run(disk, refused, tmp_path, monkeypatch):
    """There is no space for one after the other."""
    # it could not be lifted again
    monkeypatch.setattr(train_script, "limit_memory", lambda budget: None)
    data = tmp_path / "toy.npz"
    store.write(data, corpus())
    named = []
    for free in (8, 48, *range(84, 200, 4)):
        folder = disk / f"run{free}"
        write_job(job(checkpoint_every=12), folder)
        leave_free(disk, free << 10)
        words = train_command(folder, data)[3:]
        named.append(refused(train_script.main, *words))
        for path in folder.iterdir():
            path.unlink()
        if named[-1] == "record.json":
            break
    assert [*dict.fromkeys(named)] == ["checkpoint.pt", "weights.pt", "curve.csv", "record.json"]


def test_a_run_whose_log_is_on_a_full_disk(tmp_path):
    """What it prints is refused: no failure of the run, which leaves no record of one."""
    with open("/dev/full", "w") as full:
        said = train(job(), tmp_path / "run", stdout=full)
    assert said.returncode == 1
    assert said.stderr == f"train.py: /dev/full{FULL}\n"
    assert not (tmp_path / "run" / "record.json").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_score_or_a_cost_that_cannot_be_written_is_no_failure_of_it(number):
    def work() -> None:
        try:
            raise OSError(number, os.strerror(number), "words.txt")
        except OSError:
            raise RuntimeError("a library's own words") from None

    with pytest.raises(CannotWrite) as refused, attempt({}, ["bleu"]):
        work()
    assert refused.value.errno == number
    assert refused.value.filename == "words.txt"


def test_a_corpus_and_a_plan_with_its_jobs(disk, refused):
    leave_free(disk, 8192)
    assert refused(corpus_script.main, "words", str(disk / "words.npz")) == "words.npz"
    leave_free(disk, 40 << 10)
    words = [str(disk / "results" / "smoke" / "plan.json"), "--config", '{"scale": "smoke"}']
    assert refused(plan.main, *words) in ("plan.json", "job.json")
