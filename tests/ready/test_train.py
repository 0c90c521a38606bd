"""Trainings in a ready process: the records of processes of their own, whatever happens to the others."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import bitext, corpus, job, translation
from tests._training import write_job
from workflow.data.pairs import store as pairs
from workflow.data.text import store
from workflow.results.record import read_record
from workflow.results.rows import read_rows

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every run starts by itself")
pytestmark = [linux, pytest.mark.slow]


@pytest.fixture(scope="module")
def start():
    """`start(module, *words, ready=True)` gives a command that runs, in a ready process or by itself."""
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(["sleep", "600"]) as master:

        def start(module: str, *words: object, ready: bool = True) -> subprocess.Popen:
            variables = {"TMPDIR": folder, "ATTENTION_READY": str(master.pid) if ready else "no"}
            command = [sys.executable, "-m", f"workflow.scripts.{module}", *map(str, words), "--device", "cpu"]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, text=True, **pipes)

        yield start
        master.kill()


def ended(process: subprocess.Popen) -> str:
    """What it printed, once it has ended well."""
    out, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (0, "")
    return out


def outcome(folder: Path) -> dict:
    """A record without what differs between two runs of one job: times, and the memory of libraries."""
    return read_record(folder / "record.json").model_dump(
        exclude={
            "origin": {"started"},
            "cost": {"seconds", "tokens_per_s", "peak_memory_bytes"},
            "curve": {"__all__": {"tokens_per_s"}},
            "log": True,
        }
    )


def test_the_same_jobs_give_the_same_records_and_weights(start, tmp_path):
    """Of two tasks, each twice in one ready process and once by itself."""
    store.write(tmp_path / "char_lm.npz", corpus())
    pairs.write(tmp_path / "translation.npz", bitext())
    for small in (job(), translation()):
        given = {"first": True, "again": True, "alone": False}
        folders = {name: tmp_path / f"{small.task}-{name}" for name in given}
        for name, ready in given.items():
            data = tmp_path / f"{small.task}.npz"
            ended(start("train", write_job(small, folders[name]), "--data", data, ready=ready))
        alone = outcome(folders["alone"])
        assert alone["status"] == "ok" and alone["metrics"]
        assert outcome(folders["first"]) == outcome(folders["again"]) == alone
        weights = {(folder / "weights.pt").read_bytes() for folder in folders.values()}
        assert len(weights) == 1


def test_runs_that_fail_at_once_are_each_a_record_of_their_own(start, tmp_path):
    store.write(tmp_path / "toy.npz", corpus())
    jobs = {
        "ok": job(),
        "diverged": job(lr=1e6, warmup=0, loss_bound=3.0, steps=16),
        "oom": job(net={"d_ff": 10**10}),
        "timeout": job(steps=100_000, time_limit_s=2),
    }
    begun = {
        status: start("train", write_job(small, tmp_path / status), "--data", tmp_path / "toy.npz")
        for status, small in jobs.items()
    }
    for status, process in begun.items():
        ended(process)
        assert read_record(tmp_path / status / "record.json").status == status


def test_refused_input_ends_with_its_line_and_status(start, tmp_path):
    process = start("train", tmp_path / "none.json", "--data", tmp_path / "none.npz")
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and error == f"train.py: {tmp_path}/none.json: No such file or directory\n"


def test_costs_are_those_of_a_process_of_their_own(start, tmp_path):
    """The counts to the last digit; the memory, which no two processes hold to the byte, within a twentieth."""
    store.write(tmp_path / "toy.npz", corpus())
    ended(start("train", write_job(job(), tmp_path), "--data", tmp_path / "toy.npz"))
    rows = {}
    for ready in (True, False):
        flops, memory = tmp_path / f"flops-{ready}.json", tmp_path / f"memory-{ready}.json"
        ended(start("costs", tmp_path / "weights.pt", "--flops", flops, "--memory", memory, ready=ready))
        rows[ready] = read_rows(flops)[1][0], read_rows(memory)[1][0]
    assert rows[True][0] == rows[False][0]
    for kind in ("memory_train_bytes", "memory_evaluate_bytes"):
        assert rows[True][1][kind] == pytest.approx(rows[False][1][kind], rel=0.05)


AUDIT = """
import os, sys, torch
read = []
def note(event, words):
    if event == "open" and isinstance(words[0], str) and not words[0].endswith((".py", ".pyc")):
        read.append(os.path.abspath(words[0]))
sys.addaudithook(note)
import workflow.scripts as scripts
from importlib import import_module
for script in (*scripts.OF_NETS, *scripts.OF_REPORTS):
    import_module(f"workflow.scripts.{script}")
installed = ("/.venv/", ".egg-info/")  # read by libraries that look for what else is installed
print([path for path in read if path.startswith(os.getcwd() + os.sep) and not any(part in path for part in installed)])
print(torch.cuda.is_initialized())
"""


def test_what_a_ready_process_imports_reads_no_setting_and_touches_no_gpu():
    """A setting read before a fork could be out of date, and a GPU used before it could not be used after it."""
    ended = subprocess.run([sys.executable, "-c", AUDIT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["[]", "False"]
