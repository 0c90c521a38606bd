"""What can happen to a run, for real: a record with its reason or one line, and a cell."""

import os
import resource
import subprocess

import pytest

from models.kernels.compiled import build
from tests._copied import snakemake
from tests._jobs import job
from tests._training import start
from tests.failures._real import assert_done, broken, train
from workflow.results.record import read_record
from workflow.results.rows import read_rows
from workflow.training import checkpoint

pytestmark = pytest.mark.slow
compiled = pytest.mark.skipif(build.obstacle() is not None, reason="not compiled")


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, 2 * (1500 << 20,))


LARGE = {"d_model": 1024, "heads": 2, "d_ff": 32768}  # 0.5 GB, thrice with gradients and sums
WILD = {"lr": 1e18, "warmup": 0, "clip": 1e18, "steps": 32, "loss_bound": 1e300}


@pytest.mark.parametrize(
    "changes, options, status, reason",
    [
        ({"net": LARGE, "steps": 4}, {"preexec_fn": limit_memory}, "oom", "memory"),
        (WILD, {}, "diverged", "mean loss nan"),
        ({"steps": 100_000, "time_limit_s": 1}, {}, "timeout", "1 s"),
    ],
)
def test_a_failure_is_a_record_with_its_reason(changes, options, status, reason, tmp_path):
    assert train(job(**changes), tmp_path / "run", **options).returncode == 0
    record = read_record(tmp_path / "run" / "record.json")
    assert record.status == status
    assert reason in record.reason
    assert record.curve or status != "timeout"


@pytest.mark.parametrize("seed, lost", [(2, 0), (1, 1000)], ids=["another job's", "cut"])
def test_a_foreign_checkpoint_is_refused_and_left(seed, lost, tmp_path):
    path = tmp_path / "run" / "checkpoint.pt"
    checkpoint.save(path, start(job(seed=seed), tmp_path).state_dict())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - lost])
    ended = train(job(), tmp_path / "run")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert str(path) in ended.stderr
    assert {*os.listdir(path.parent)} == {"job.json", "checkpoint.pt"}


CRASH = "*(volatile int *)0 = 1;"
ONCE = 'if (!access("once", F_OK) && !unlink("once")) kill(getpid(), SIGKILL);'


@compiled
def test_a_run_that_the_system_kills_ends_well_at_its_next_attempt(tmp_path):
    suite = broken(tmp_path / "suite", ONCE)
    (suite / "once").touch()
    ended = train(job(), tmp_path / "run", at=suite, stdout=subprocess.PIPE)
    assert "attempt 2 of 3" in ended.stdout
    assert read_record(tmp_path / "run" / "record.json").status == "ok"


QUESTION = """question: Does keeping few keys change anything?
paper: explicit_sparse
corpora: [text8]
variants:
  whole: {span: fixed, S: max}
  few: {span: fixed, S: max, selection: top_k, k: max}
"""


@compiled
def test_a_crash_in_compiled_code_is_a_cell_with_its_reason(tmp_path):
    folder = broken(tmp_path, f"if (a->kept) {CRASH}")
    (folder / "studies" / "own" / "questions" / "few_keys.yaml").write_text(QUESTION)
    words = ("--config", "scale=smoke", "tasks=[char_lm]", "questions=[few_keys]", "--", "few_keys")
    said = snakemake(folder, *words)
    assert_done(said)
    rows = read_rows(folder / "results/smoke/questions/few_keys.json")[1]
    runs = {row["variant"]: row for row in rows}
    reason = "the process was ended by SIGSEGV"
    assert runs["whole"]["status"] == "ok"
    assert runs["few"]["status"] == "error"
    assert runs["few"]["reason"] == reason
    page = folder / "reports/smoke/questions/few_keys/index.html"
    assert reason in page.read_text()
    timed = read_rows(folder / "results/smoke/throughput/few_keys.json")[1]
    status = {row["configuration"]: row["status"] for row in timed}
    assert status[runs["whole"]["configuration"]] == "ok"
    assert status[runs["few"]["configuration"]] != "ok"
