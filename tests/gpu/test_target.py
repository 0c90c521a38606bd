"""`make gpu`: one line at once where there is no GPU, and its rehearsal on a CPU."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")
PROGRAMS = {name: f'echo {name} "$@"' for name in ("python", "snakemake")}


def make(folder: Path, *words: str, **programs: str) -> subprocess.CompletedProcess:
    """Run make where there is nothing but the Makefile, these programs, and a few of the system."""
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "programs").mkdir()
    for name in ("make", "sh", "grep", "test", "echo"):
        found = shutil.which(name)
        if found:
            (folder / "programs" / name).symlink_to(found)
    for name, script in programs.items():
        program = folder / "programs" / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    command = ["make", "--no-print-directory", "--silent", "BIN=programs", *words]
    env = {"PATH": str(folder / "programs")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_without_a_gpu_it_ends_at_once_in_one_line(tmp_path):
    ended = make(tmp_path, "gpu")
    assert ended.returncode
    assert ended.stdout.count("\n") == 1
    assert "nvidia-smi" in ended.stdout


def test_it_looks_at_the_machine_first_and_ends_with_the_bundle(tmp_path):
    (tmp_path / ".venv").mkdir()
    for name in ("pyproject.toml", "constraints.txt", ".venv/installed"):
        (tmp_path / name).touch()
    settings = ("SCALE=smoke", "DEVICE=cpu", "TASKS=null")
    ended = make(tmp_path, "gpu", *settings, nvidia_smi="echo 'GPU 0: a GPU'", **PROGRAMS)
    assert ended.returncode == 0, ended.stderr
    doctor, snakemake, bundle = ended.stdout.splitlines()[-3:]
    assert "workflow.cli.doctor" in doctor
    wanted = {"scale=smoke", "device=cpu", "tasks=null", "profiles/gpu", "all", "bundle"}
    assert {*snakemake.split()} >= wanted
    assert bundle.endswith("bundle.zip")
