"""`make gpu`: one line at once where there is no GPU, and its rehearsal on a CPU."""

import shutil
import subprocess

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make")


@pytest.fixture
def make(tmp_path):
    """Runs make in a folder that has nothing but the Makefile, with these programs besides the system's own."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("make", "sh", "grep", "test", "echo"):
        if found := shutil.which(name):
            (programs / name).symlink_to(found)

    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["make", *words], cwd=tmp_path, env={"PATH": str(programs)}, capture_output=True, text=True
        )

    return run


def test_without_a_gpu_it_ends_at_once_in_one_line(make, tmp_path):
    ended = make("gpu")
    assert ended.returncode and ended.stdout.splitlines() == [
        "make gpu: no GPU is seen here, for nvidia-smi lists none"
    ]
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    "words, scale, device", [((), "small", "cuda"), (("SCALE=smoke", "DEVICE=cpu"), "smoke", "cpu")]
)
def test_it_looks_at_the_machine_first_and_ends_with_the_bundle(words, scale, device, make, tmp_path):
    listing = tmp_path / "programs" / "nvidia-smi"
    listing.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)'\n")
    listing.chmod(0o755)
    (tmp_path / ".venv").mkdir()
    for name in ("pyproject.toml", "constraints.txt", ".venv/installed"):
        (tmp_path / name).touch()
    for name in ("python", "snakemake"):
        (tmp_path / "programs" / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
        (tmp_path / "programs" / name).chmod(0o755)
    ended = make("--no-print-directory", "--silent", "gpu", *words)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-3:] == [
        f"python -m workflow.cli.doctor --device {device}",
        f"snakemake --workflow-profile profiles/gpu --config scale={scale} device={device} -- all bundle",
        f"results/{scale}/bundle.zip",
    ]
