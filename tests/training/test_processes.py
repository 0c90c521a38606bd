"""A run on two devices as the workflow starts it: it ends as a record, whatever happens to one of its processes."""

import signal
import subprocess
import time

import psutil
import pytest

from tests._jobs import corpus, job
from tests._training import train_command, write_job
from tests.training._several import QUIET
from workflow.config.files import ROOT
from workflow.results.record import read_record
from workflow.tasks.char_lm import store

pytestmark = pytest.mark.slow


def begin(folder, case, *words: str) -> subprocess.Popen:
    store.write(folder / "toy.npz", corpus())
    write_job(case, folder)
    command = train_command(folder, folder / "toy.npz", *words)
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def end(run: subprocess.Popen) -> tuple[int, list[str]]:
    """Return its exit status and what it said of errors."""
    errors = run.communicate(timeout=90)[1]
    return run.returncode, errors.splitlines()


def wait_for_checkpoint(run: subprocess.Popen, folder) -> list[psutil.Process]:
    """Return the two processes that train, once there is a checkpoint."""
    while not (folder / "checkpoint.pt").exists() or len(children := psutil.Process(run.pid).children()) < 2:
        assert run.poll() is None
        time.sleep(0.1)
    return children


def test_the_job_says_on_how_many_devices_and_one_record_is_written(tmp_path):
    case = job(**QUIET, devices=2)
    assert case.digest == job(**QUIET).digest
    assert end(begin(tmp_path, case))[0] == 0
    record = read_record(tmp_path / "record.json")
    assert (record.status, record.origin.devices) == ("ok", 2)
    assert record.cost.backends and record.metrics["test_bpc"] < 3
    left = {"job.json", "toy.npz", "record.json", "curve.csv", "weights.pt"}
    assert {path.name for path in tmp_path.iterdir()} == left


@pytest.mark.parametrize(
    "number, times, ended",
    [
        (signal.SIGABRT, 1, ("error", "one of 2 processes was ended by SIGABRT")),
        (signal.SIGKILL, 3, ("oom", "the process was killed 3 times, as the system does when memory ends")),
    ],
)
def test_a_crash_is_a_record_with_what_was_saved_and_a_killed_process_begins_again(number, times, ended, tmp_path):
    run = begin(tmp_path, job(steps=100_000), "--devices", "2")
    for _ in range(times):
        processes = wait_for_checkpoint(run, tmp_path)
        processes[1].send_signal(number)
        assert not psutil.wait_procs(processes, timeout=30)[1]
    assert end(run)[0] == 0
    record = read_record(tmp_path / "record.json")
    assert (record.status, record.reason) == ended
    assert record.curve and not (tmp_path / "checkpoint.pt").exists()


def test_none_outlives_the_process_that_started_them(tmp_path):
    run = begin(tmp_path, job(steps=100_000), "--devices", "2")
    processes = wait_for_checkpoint(run, tmp_path)
    run.kill()
    end(run)
    assert not psutil.wait_procs(processes, timeout=30)[1]


def test_a_loss_beyond_the_bound_is_a_record_with_its_curve(tmp_path):
    assert end(begin(tmp_path, job(steps=40, loss_bound=0.01), "--devices", "2"))[0] == 0
    record = read_record(tmp_path / "record.json")
    assert record.status == "diverged" and "the bound is 0.01" in record.reason and record.curve


def test_what_cannot_be_divided_is_refused_in_a_line(tmp_path):
    status, errors = end(begin(tmp_path, job(batch=4), "--devices", "3"))
    line = "train.py: devices: accumulate x devices = 1 x 3 must divide the batch of 4 streams"
    assert (status, errors) == (2, [line]) and not (tmp_path / "record.json").exists()
