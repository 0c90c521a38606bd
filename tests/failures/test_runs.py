"""What can happen to a run, for real: each is a record with its reason or one line, and a cell in a
whole workflow.
"""

import resource

import pytest

from models.kernels.compiled import build
from tests._copied import snakemake
from tests._jobs import job
from tests._training import start
from tests.failures._real import broken, line_of, train
from workflow.results.record import read_record
from workflow.results.rows import read_rows
from workflow.training import checkpoint

pytestmark = pytest.mark.slow
compiled = pytest.mark.skipif(
    build.obstacle() is not None, reason=f"not compiled: {build.obstacle()}"
)


def record_of(job, folder, **options):
    """Train a job by its command, which succeeds whatever happens to the run; return the record and
    what was said.
    """
    ended = train(job, folder, **options)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return read_record(folder / "record.json"), ended.stdout + ended.stderr


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, 2 * (1500 << 20,))


LARGE = {"d_model": 1024, "heads": 2, "d_ff": 32768}  # 0.5 GB, thrice with gradients and sums


@pytest.mark.parametrize(
    "changes, options, status, reason",
    [
        ({"net": LARGE, "steps": 4}, {"preexec_fn": limit_memory}, "oom", "memory"),
        (
            {"lr": 1e18, "warmup": 0, "clip": 1e18, "steps": 32, "loss_bound": 1e300},
            {},
            "diverged",
            "mean loss nan",
        ),
        ({"steps": 100_000, "time_limit_s": 1}, {}, "timeout", "1 s"),
    ],
    ids=[
        "a net beyond the memory of its process",
        "a loss that is no number",
        "a run that takes too long",
    ],
)
def test_a_failure_is_a_record_with_its_reason(changes, options, status, reason, tmp_path):
    record, _ = record_of(job(**changes), tmp_path / "run", **options)
    assert record.status == status and reason in record.reason, record.reason
    assert record.curve or status != "timeout"


CRASH = "*(volatile int *)0 = 1;"
ONCE = 'if (!access("once", F_OK) && !unlink("once")) kill(getpid(), SIGKILL);'


@compiled
@pytest.mark.parametrize(
    "statement, end, line",
    [
        (CRASH, ("error", "the process was ended by SIGSEGV"), "Segmentation fault"),
        (ONCE, ("ok", None), "attempt 2 of 3"),
    ],
    ids=["a crash is a record", "a killed run ends well at its next attempt"],
)
def test_compiled_code_that_ends_its_process(statement, end, line, tmp_path):
    suite = broken(tmp_path / "suite", statement)
    (suite / "once").touch()
    record, said = record_of(job(), tmp_path / "run", at=suite)
    assert (record.status, record.reason) == end and line in said
    left = {"job.json", "record.json", "curve.csv", "weights.pt"}
    assert {path.name for path in (tmp_path / "run").iterdir()} == left


@pytest.mark.parametrize("kind", ["another job's", "cut off"])
def test_a_foreign_checkpoint(kind, tmp_path):
    other = start(job(seed=2), tmp_path)
    path = tmp_path / "run" / "checkpoint.pt"
    checkpoint.save(path, other.state_dict())
    if kind == "cut off":
        path.write_bytes(path.read_bytes()[:-1000])
    line = line_of(train(job(), tmp_path / "run"), 2)
    assert str(path) in line and "delete it to start again" in line
    assert {each.name for each in path.parent.iterdir()} == {"job.json", "checkpoint.pt"}


QUESTION = """question: Does keeping few keys change anything?
paper: explicit_sparse
corpora: [text8]
variants:
  whole: {span: fixed, S: max}
  few: {span: fixed, S: max, selection: top_k, k: max}
"""


@compiled
def test_a_crash_in_compiled_code_is_a_cell_with_its_reason(tmp_path):
    folder = broken(tmp_path, "if (a->kept) *(volatile int *)0 = 1;")
    (folder / "studies" / "own" / "questions" / "few_keys.yaml").write_text(QUESTION)
    words = ("--config", "scale=smoke", "tasks=[char_lm]", "questions=[few_keys]", "--", "few_keys")
    said = snakemake(folder, *words)
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    rows = read_rows(folder / "results/smoke/questions/few_keys.json")[1]
    runs = {row["variant"]: row for row in rows}
    reason = "the process was ended by SIGSEGV"
    assert runs["whole"]["status"] == "ok" and runs["whole"]["dev_bpc"] > 0
    assert (runs["few"]["status"], runs["few"]["reason"]) == ("error", reason)
    page = (folder / "reports/smoke/questions/few_keys/index.html").read_text()
    assert reason in page and reason in said.stdout + said.stderr
    timed = read_rows(folder / "results/smoke/throughput/few_keys.json")[1]
    status = {row["configuration"]: row["status"] for row in timed}
    assert status[runs["whole"]["configuration"]] == "ok"
    assert status[runs["few"]["configuration"]] != "ok"
