"""Clocks that disagree and folders of another owner: nothing is trained in vain."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests._copied import ROOT, snakemake
from tests.failures._real import assert_done

pytestmark = pytest.mark.slow
SNAKEFILE = ROOT / "workflow" / "Snakefile"
SMOKE = (
    "-s",
    str(SNAKEFILE),
    "--config",
    "scale=smoke",
    "tasks=[char_lm]",
    "questions=[dynamic_span]",
    "--",
)


def planned(folder: Path) -> str:
    """Write job files and the dataset of a run, and return the place of its record."""
    said = snakemake(folder, *SMOKE, "results/smoke/plan.json", "results/data/words.npz")
    assert_done(said)
    runs = folder / "results" / "runs"
    jobs = sorted(runs.glob("*/job.json"))
    chosen = next(path for path in jobs if '"words"' in path.read_text())
    record = chosen.with_name("record.json")
    return record.relative_to(folder).as_posix()


def without_rights(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run Snakemake as a user who may write only where a folder's mode says so."""
    rights = []
    if os.geteuid() == 0:
        rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        if not shutil.which("setpriv"):
            pytest.skip("root cannot lay down its rights here")
        tried = subprocess.run([*rights, "true"])
        if tried.returncode:
            pytest.skip("root cannot lay down its rights here")
    programs = Path(sys.executable).parent
    path = os.environ["PATH"]
    env = os.environ | {"PATH": f"{programs}{os.pathsep}{path}"}
    command = [*rights, sys.executable, "-m", "snakemake", "--cores", "2", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)


@pytest.mark.parametrize("name", ["results/runs", "logs/train", ".snakemake/metadata"])
def test_a_folder_of_another_owner_is_named_before_anything_runs(name, tmp_path):
    record = planned(tmp_path)
    run = (tmp_path / record).parent
    shutil.rmtree(run)
    folder = tmp_path / name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    said = without_rights(tmp_path, *SMOKE, record)
    folder.chmod(0o755)
    assert said.returncode
    refusal = f"{folder}: this folder is not writable"
    assert said.stderr.count(refusal) == 1, said.stderr[-3000:]
    assert "Traceback" not in said.stderr
    assert not run.exists()


def test_a_run_whose_inputs_lie_in_the_future_is_trained_once(tmp_path):
    record = planned(tmp_path)
    results = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    for path in results:
        # as it looks to a clock that was set back by a day
        tomorrow = path.stat().st_mtime + 86400
        os.utime(path, (tomorrow, tomorrow))
    said = snakemake(tmp_path, *SMOKE, record)
    assert_done(said)
    written = tmp_path / record
    first = written.read_bytes()
    for path in results:
        assert path.stat().st_mtime <= time.time()
    again = snakemake(tmp_path, *SMOKE, record)
    assert again.returncode == 0
    assert written.read_bytes() == first
