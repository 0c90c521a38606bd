"""`make gpu`: one line at once where there is no GPU, and its rehearsal on a CPU."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")


TASKS = "[char_lm,translation,captioning]"  # what can be downloaded


def make(folder: Path, *words: str, **programs: str) -> subprocess.CompletedProcess:
    """Run make where there is nothing but the Makefile, with these programs besides a few of the
    system's own.
    """
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "programs").mkdir()
    for name in ("make", "sh", "grep", "test", "echo"):
        if found := shutil.which(name):
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
    assert ended.returncode and ended.stdout.count("\n") == 1
    assert ended.stdout.startswith("make gpu: ") and "nvidia-smi" in ended.stdout


@pytest.mark.parametrize(
    "words, settings",
    [
        ((), {"scale=small", "device=cuda", f"tasks={TASKS}"}),
        (("SCALE=smoke", "DEVICE=cpu", "TASKS=null"), {"scale=smoke", "device=cpu", "tasks=null"}),
    ],
)
def test_it_looks_at_the_machine_first_and_ends_with_the_bundle(words, settings, tmp_path):
    (tmp_path / ".venv").mkdir()
    for name in ("pyproject.toml", "constraints.txt", ".venv/installed"):
        (tmp_path / name).touch()
    programs = {name: f'echo {name} "$@"' for name in ("python", "snakemake")}
    ended = make(
        tmp_path, "gpu", *words, nvidia_smi="echo 'GPU 0: a GPU (UUID: GPU-1)'", **programs
    )
    assert ended.returncode == 0, ended.stderr
    doctor, snakemake, bundle = ended.stdout.splitlines()[-3:]
    assert "workflow.cli.doctor" in doctor
    assert {*snakemake.split()} >= settings | {"profiles/gpu", "all", "bundle"}
    assert bundle.endswith("bundle.zip")
