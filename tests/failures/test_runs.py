"""What can happen to a run, for real: each is a record with its reason, or one line."""

import resource

import pytest

from models.kernels.compiled import build
from tests._copied import copied
from tests._jobs import job
from tests._training import start
from tests.failures._real import broken, line_of, train
from workflow.results.record import read_record
from workflow.training import checkpoint

pytestmark = pytest.mark.slow
compiled = pytest.mark.skipif(build.obstacle() is not None, reason=f"nothing is compiled: {build.obstacle()}")


def limited_to(size: int):
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def test_a_net_beyond_the_memory_of_its_process(tmp_path):
    large = job(net={"d_model": 1024, "heads": 2, "d_ff": 32768}, steps=4)  # 0.5 GB, thrice with gradients and sums
    ended = train(large, tmp_path / "run", limit=limited_to(1500 << 20))
    record = read_record(tmp_path / "run" / "record.json")
    assert ended.returncode == 0 and record.status == "oom" and "memory" in record.reason, record.reason


def test_a_loss_that_is_no_number(tmp_path):
    assert train(job(lr=1e18, warmup=0, clip=1e18, steps=32, loss_bound=1e300), tmp_path / "run").returncode == 0
    record = read_record(tmp_path / "run" / "record.json")
    assert record.status == "diverged" and "no numbers" in record.reason, record.reason


def test_a_run_that_takes_too_long(tmp_path):
    assert train(job(steps=100_000, time_limit_s=1), tmp_path / "run").returncode == 0
    record = read_record(tmp_path / "run" / "record.json")
    assert record.status == "timeout" and "1 s" in record.reason and record.curve


@compiled
def test_a_crash_in_compiled_code(tmp_path):
    (tmp_path / "suite").mkdir()
    suite = broken(copied(tmp_path / "suite"), "*(volatile int *)0 = 1;")
    ended = train(job(), tmp_path / "run", at=suite)
    assert ended.returncode == 0 and "Segmentation fault" in ended.stderr
    record = read_record(tmp_path / "run" / "record.json")
    assert (record.status, record.reason) == ("error", "the process was ended by SIGSEGV")
    left = {"job.json", "record.json", "curve.csv", "weights.pt"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == left


@compiled
def test_a_killed_run_ends_well_at_its_next_attempt(tmp_path):
    (tmp_path / "suite").mkdir()
    suite = broken(copied(tmp_path / "suite"), 'if (!access("once", F_OK) && !unlink("once")) kill(getpid(), SIGKILL);')
    (suite / "once").touch()
    ended = train(job(), tmp_path / "run", at=suite)
    assert ended.returncode == 0 and "attempt 2 of 3" in ended.stdout
    assert read_record(tmp_path / "run" / "record.json").status == "ok"


@pytest.mark.parametrize("kind", ["another job's", "cut off"])
def test_a_foreign_checkpoint(kind, tmp_path):
    other = start(job(seed=2), tmp_path)
    path = tmp_path / "run" / "checkpoint.pt"
    checkpoint.save(path, other.state_dict())
    if kind == "cut off":
        path.write_bytes(path.read_bytes()[:-1000])
    line = line_of(train(job(), tmp_path / "run"), 2)
    assert str(path) in line and "delete it to start anew" in line
    assert {each.name for each in path.parent.iterdir()} == {"job.json", "checkpoint.pt"}
