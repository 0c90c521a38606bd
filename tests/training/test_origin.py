"""What a machine does not tell, or refuses, ends no run: the record says what is missing, and
why.
"""

import os
import resource
import subprocess
from unittest.mock import Mock

import psutil
import pytest
import torch

from models.kernels.compiled import build
from tests._jobs import corpus, job
from tests._training import CPU, run_script, write_job
from workflow.plan import sources
from workflow.results.record import read_record
from workflow.scripts import train
from workflow.tasks.char_lm import store
from workflow.training import backends, origin, processes
from workflow.training.run import build_model


def described() -> dict:
    return origin.describe(CPU, "fp32", sources.recorded([]))


@pytest.mark.parametrize(
    "refusal", [ValueError("current limit exceeds maximum limit"), OSError(1, "not permitted")]
)
def test_a_refused_limit_of_memory_stands_in_the_record_and_the_run_goes_on(
    refusal, tmp_path, monkeypatch
):
    monkeypatch.setattr(resource, "setrlimit", Mock(side_effect=refusal))
    store.write(tmp_path / "toy.npz", corpus())
    path = write_job(job(), tmp_path / "run")
    train.main([str(path), "--data", str(tmp_path / "toy.npz"), "--device", "cpu"])
    record = read_record(path.parent / "record.json")
    assert record.status == "ok" and str(refusal) in record.origin.missing["limit of memory"]


def test_bits_of_what_torch_or_the_definition_computes_stay_on_their_machine(monkeypatch):
    net = build_model(job(), CPU)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    assert backends.bits(net, CPU, torch.float32) == "portable" or build.obstacle()
    with build.without():
        assert backends.bits(net, CPU, torch.float32) == "this machine"
    backends.prepare(net, "definition", CPU, torch.float32)
    assert backends.bits(net, CPU, torch.float32) == "this machine"


def test_a_system_that_does_not_tell_its_memory_trains_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(
        psutil, "virtual_memory", Mock(side_effect=RuntimeError("syscall failed: (ipc/send)"))
    )
    record = run_script(job(), tmp_path / "run")
    assert record.status == "ok" and record.origin.host_memory_bytes is None
    assert "syscall failed" in record.origin.missing["host_memory_bytes"]


def test_a_library_that_was_installed_without_its_metadata_has_an_unknown_version(monkeypatch):
    monkeypatch.setattr(origin, "LIBRARIES", ("nowhere",))
    told = described()
    assert told["versions"]["nowhere"] == "unknown" and "nowhere" in told["missing"]["nowhere"]


def git(folder, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ("git", *identity, *words), cwd=folder, capture_output=True, text=True, check=True
    )
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


def is_unknown(reason: str) -> bool:
    told = described()
    return (
        told["commit"] == "unknown"
        and told["dirty"] is True
        and reason in told["missing"]["commit"]
    )


def test_the_commit_of_a_repository_around_a_copy_is_no_commit_of_ours(repository):
    assert is_unknown("not a git repository")


@pytest.mark.parametrize(
    "variables", [("GIT_DIR",), ("GIT_DIR", "GIT_WORK_TREE"), ("GIT_COMMON_DIR",)]
)
def test_a_repository_that_the_environment_names_is_not_asked(variables, repository, monkeypatch):
    for variable in variables:
        monkeypatch.setenv(
            variable, str(repository if variable == "GIT_WORK_TREE" else repository / ".git")
        )
    assert is_unknown("not a git repository")


def test_the_suites_own_repository_is_asked_whatever_the_environment_names(repository, monkeypatch):
    monkeypatch.setattr(origin, "ROOT", repository)
    commit = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(repository / "elsewhere"))
    assert (described()["commit"], described()["dirty"], described()["missing"]) == (
        commit,
        False,
        {},
    )
    (repository / "new.txt").write_text("b")
    assert described()["dirty"] is True


@pytest.mark.skipif(os.geteuid() != 0, reason="no file can be given to another user")
def test_a_repository_of_another_owner_is_unknown_with_what_git_says(
    repository, monkeypatch, tmp_path
):
    monkeypatch.setattr(origin, "ROOT", repository)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    assert is_unknown("detected dubious ownership")


@pytest.mark.parametrize(
    "script, reason",
    [
        ("sleep 30", "TimeoutExpired"),
        ("echo no such luck >&2; exit 3", "no such luck"),
        (None, "No such file"),
    ],
    ids=["slow", "broken", "not installed"],
)
def test_a_git_that_gives_no_answer_leaves_its_reason(
    script, reason, repository, tmp_path, monkeypatch
):
    run = subprocess.run
    monkeypatch.setattr(origin, "ROOT", repository)
    monkeypatch.setattr(
        subprocess, "run", lambda words, **options: run(words, **{**options, "timeout": 0.5})
    )
    (tmp_path / "bin").mkdir()
    if script:
        (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert is_unknown(reason)


def test_a_status_that_takes_too_long_leaves_the_commit_and_counts_as_changed(monkeypatch):
    """The second question to git is for what has changed."""
    monkeypatch.setattr(
        origin, "_ask_git", Mock(side_effect=["0123abc", subprocess.TimeoutExpired("git", 20)])
    )
    told = described()
    assert (told["commit"], told["dirty"], [*told["missing"]]) == ("0123abc", True, ["dirty"])


def test_a_system_without_shared_memory_for_locks_trains(monkeypatch):
    monkeypatch.setattr(
        "_multiprocessing.SemLock", Mock(side_effect=OSError(38, "Function not implemented"))
    )
    monkeypatch.setattr(processes, "_wait_for", lambda forks: [fork.join() for fork in forks] and 0)
    assert processes._attempt(1, lambda: None) == 0
