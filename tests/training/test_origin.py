"""What a machine does not tell, or refuses, ends no run: the record says what is missing."""

import os
import resource
import subprocess
from unittest.mock import Mock

import psutil
import pytest
import torch

from models.kernels.compiled import build
from tests._jobs import corpus, job
from tests._training import CPU, train_command, write_job
from workflow.plan import sources
from workflow.results.record import read_record
from workflow.scripts import train
from workflow.tasks.char_lm import store
from workflow.training import backends, origin
from workflow.training.run import build_model


def described() -> dict:
    return origin.describe(CPU, "fp32", sources.recorded([]))


def test_a_system_that_neither_tells_nor_limits_its_memory_trains(tmp_path, monkeypatch):
    monkeypatch.setattr(resource, "setrlimit", Mock(side_effect=OSError(1, "not permitted")))
    monkeypatch.setattr(psutil, "virtual_memory", Mock(side_effect=RuntimeError("syscall failed")))
    store.write(tmp_path / "toy.npz", corpus())
    write_job(job(), tmp_path / "run")
    train.main(train_command(tmp_path / "run", tmp_path / "toy.npz")[3:])
    record = read_record(tmp_path / "run" / "record.json")
    assert record.status == "ok"
    assert record.origin.host_memory_bytes is None
    assert "syscall failed" in record.origin.missing["host_memory_bytes"]
    assert "limit of memory" in record.origin.missing


def test_bits_of_what_torch_or_the_definition_computes_stay_on_their_machine(monkeypatch):
    model = build_model(job(), CPU)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert backends.bits(model, CPU, torch.float32) == "portable" or build.obstacle()
    with build.without():
        assert backends.bits(model, CPU, torch.float32) == "this machine"
    backends.prepare(model, "definition", CPU, torch.float32)
    assert backends.bits(model, CPU, torch.float32) == "this machine"


def git(folder, *words: str) -> str:
    command = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Make a repository with one commit, and the suite's folder in it."""
    suite = tmp_path / "outer" / "suite"
    suite.mkdir(parents=True)
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setattr(origin, "ROOT", suite)
    (suite / "a.txt").write_text("a")
    git(suite.parent, "init", "-q")
    git(suite.parent, "add", ".")
    git(suite.parent, "commit", "-qm", "another project")
    return suite.parent


def test_only_the_suites_own_repository_is_asked(repository, monkeypatch):
    """Not one around a copy of the suite, nor one that the environment names."""
    found = described()
    assert found["commit"] == "unknown"
    assert found["dirty"]
    monkeypatch.setattr(origin, "ROOT", repository)
    commit = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(repository / "elsewhere"))
    found = described()
    assert found["commit"] == commit
    assert not found["dirty"]
    assert not found["missing"]
    (repository / "new.txt").write_text("b")
    assert described()["dirty"] is True


def test_a_git_that_gives_no_answer_leaves_its_reason(repository, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(origin, "ROOT", repository)
    monkeypatch.setenv("PATH", str(program.parent))
    found = described()
    assert found["commit"] == "unknown"
    assert "no such luck" in found["missing"]["commit"]
