"""Two processes that train one model give the numbers of one, and end as a record."""

import os
import signal
import subprocess
import time

import psutil
import pytest
import torch

from tests._copied import ROOT, ended
from tests._jobs import corpus, job
from tests._training import start, train_command, write_job
from tests.training._several import CASES, QUIET, go_on, in_64_bits, train
from workflow.plan import sources
from workflow.results.record import read_record
from workflow.tasks.char_lm import store
from workflow.training import loop

pytestmark = pytest.mark.slow
ENDLESS = job(steps=100_000)


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
    while True:
        children = psutil.Process(run.pid).children()
        if len(children) == 2 and (folder / "checkpoint.pt").exists():
            return children
        assert run.poll() is None
        time.sleep(0.1)


@pytest.mark.parametrize(
    "number, times, outcome",
    [
        (signal.SIGABRT, 1, ("error", "one of 2 processes was ended by SIGABRT")),
        (signal.SIGKILL, 3, ("oom", "the process was killed 3 times")),
    ],
)
def test_a_crash_is_a_record_and_a_killed_process_begins_again(number, times, outcome, tmp_path):
    run = begin(tmp_path, ENDLESS, "--devices", "2")
    for _ in range(times):
        processes = wait_for_checkpoint(run, tmp_path)
        processes[1].send_signal(number)
        assert not psutil.wait_procs(processes, timeout=30)[1]
    assert end(run)[0] == 0
    record = read_record(tmp_path / "record.json")
    status, reason = outcome
    assert record.status == status
    assert record.reason.startswith(reason)
    assert record.curve
    assert not (tmp_path / "checkpoint.pt").exists()


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Return a function that reads what a case ended with at a place.

    one, two: processes from the start; half: begun by two, gone on with by one; begun: the other
    way round.
    """
    folder = tmp_path_factory.mktemp("devices")
    with in_64_bits():
        for name, case in CASES.items():
            train(case, folder / "one" / name)
            go_on(folder / "one" / name, folder / "begun" / name)
        done = ended(ROOT, "tests.training._several", str(folder))
        assert done.returncode == 0, done.stderr[-3000:]
        for name, case in CASES.items():
            half = go_on(folder / "two" / name, folder / "half" / name)
            train(case, half)
    return lambda *place: torch.load(folder.joinpath(*place, "end.pt"), weights_only=True)


@pytest.mark.parametrize("place", ["two", "begun", "half"])
@pytest.mark.parametrize("name", CASES)
def test_two_processes_give_the_numbers_of_one(name, place, numbers):
    """Also when the run changes from one process to two, or back, in its middle."""
    one = numbers("one", name)
    other = numbers(place, name)
    torch.testing.assert_close(other["weights"], one["weights"], rtol=0, atol=1e-9)
    for point, counterpart in zip(one["curve"], other["curve"], strict=True):
        del point["tokens_per_s"], counterpart["tokens_per_s"]
        assert counterpart == pytest.approx(point, abs=1e-9, rel=0)
    # else the equality of their penalties would say nothing
    for key, weight in other["weights"].items():
        if key.endswith("span.fraction"):
            assert (weight < 0.49).all()


def test_interrupted_with_dropout_two_end_as_two_never_interrupted(numbers):
    whole = numbers("whole")
    again = numbers("again")
    assert "resumed at step 10" in again["log"]
    torch.testing.assert_close(again["weights"], whole["weights"], rtol=0, atol=0)


LATE = """
import os
import time

import torch

join = torch.distributed.init_process_group


def late(*words, **options):
    join(*words, **options)
    time.sleep(5 * int(os.environ["RANK"]))


torch.distributed.init_process_group = late
"""


def test_two_begun_again_after_the_last_update_both_read_the_checkpoint(tmp_path, monkeypatch):
    """The first deletes it; the second comes late."""
    case = job(**QUIET, devices=2)
    assert case.digest == job(**QUIET).digest
    source = sources.digest(sources.of_run(case))
    loop.train(start(case, tmp_path, source=source))
    (tmp_path / "sitecustomize.py").write_text(LATE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    assert end(begin(tmp_path, case))[0] == 0
    record = read_record(tmp_path / "record.json")
    assert (record.status, record.origin.devices) == ("ok", 2)
    assert [point.step for point in record.curve] == [4, 8, 12]
    assert not (tmp_path / "checkpoint.pt").exists()
