"""A run on two devices as the workflow starts it: it ends as a record, whatever happens to one of its processes."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests._jobs import corpus, job
from tests._training import write_job
from workflow.config.files import ROOT
from workflow.data.text import store
from workflow.results.record import read_record

pytestmark = pytest.mark.slow
QUIET = {"net": {"dropout": 0.0, "attention_dropout": 0.0}}


def begin(folder, case, *words: str) -> subprocess.Popen:
    store.write(folder / "toy.npz", corpus())
    words = ("--data", str(folder / "toy.npz"), "--device", "cpu", *words)
    command = [sys.executable, "-m", "workflow.scripts.train", str(write_job(case, folder)), *words]
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)


def end(run: subprocess.Popen) -> tuple[int, list[str]]:
    """Its exit status and what it said of errors."""
    errors = run.communicate(timeout=90)[1]
    return run.returncode, errors.splitlines()


def wait_for_checkpoint(run: subprocess.Popen, folder) -> list[psutil.Process]:
    """The processes that train."""
    while not (folder / "checkpoint.pt").exists():
        assert run.poll() is None
        time.sleep(0.1)
    return [child for child in psutil.Process(run.pid).children() if "workflow.scripts.train" in child.cmdline()]


def test_the_job_says_on_how_many_devices_and_one_record_is_written(tmp_path):
    case = job(**QUIET, devices=2)
    assert case.digest == job(**QUIET).digest
    assert end(begin(tmp_path, case))[0] == 0
    record = read_record(tmp_path / "record.json")
    assert (record.status, record.origin.devices) == ("ok", 2)
    assert record.cost.backends and record.metrics["test_bpc"] < 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["job.json", "toy.npz", "tmp", "record.json", "curve.csv", "weights.pt"]
    )
    assert not list((tmp_path / "tmp").glob("torchelastic*"))


def test_a_killed_process_is_a_record_with_the_reason_and_what_was_saved(tmp_path):
    run = begin(tmp_path, job(steps=100_000), "--devices", "2")
    processes = wait_for_checkpoint(run, tmp_path)
    assert len(processes) == 2
    processes[1].send_signal(signal.SIGKILL)
    assert end(run)[0] == 0 and not any(process.is_running() for process in processes)
    record = read_record(tmp_path / "record.json")
    assert record.status == "error" and "SIGKILL" in record.reason and "of 2" in record.reason
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


@pytest.mark.parametrize(
    "case, count, line",
    [
        (job(batch=4), "3", "train.py: devices: accumulate x devices = 1 x 3 must divide the batch of 4 streams"),
        (
            job(),
            "0",
            "train.py: argument --devices: invalid whole number of at least 1 value: '0'; --help says what there is",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused_in_a_line(case, count, line, tmp_path):
    status, errors = end(begin(tmp_path, case, "--devices", count))
    assert status == 2 and errors[-1] == line and not (tmp_path / "record.json").exists()
