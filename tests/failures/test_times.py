"""Clocks that disagree, and folders of another owner: what was trained is kept, and nothing is
trained in vain.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests._copied import ROOT, snakemake
from tests._jobs import corpus, job
from tests._training import train_command, write_job
from workflow.tasks.char_lm import store

pytestmark = pytest.mark.slow
DAY = 86400
SMOKE = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke", "tasks=[char_lm]")
SMOKE += ("questions=[dynamic_span]",)


def date(paths, ahead: float) -> None:
    for path in paths:
        changed = path.stat().st_mtime + ahead
        os.utime(path, (changed, changed))


def planned(folder: Path) -> str:
    """Write job files and the dataset of a run, and return the place of its record."""
    said = snakemake(folder, *SMOKE, "--", "results/smoke/plan.json", "results/data/words.npz")
    assert said.returncode == 0, said.stderr[-3000:]
    jobs = (folder / "results" / "runs").glob("*/job.json")
    chosen = min(path for path in jobs if '"words"' in path.read_text())
    return chosen.with_name("record.json").relative_to(folder).as_posix()


def test_a_run_whose_inputs_lie_in_the_future_is_trained_once(tmp_path):
    record = planned(tmp_path)
    date((path for path in (tmp_path / "results").rglob("*") if path.is_file()), DAY)
    said = snakemake(tmp_path, *SMOKE, "--", record)
    assert said.returncode == 0, said.stderr[-3000:]
    first = (tmp_path / record).read_bytes()
    assert not [
        path for path in (tmp_path / "results").rglob("*") if path.stat().st_mtime > time.time()
    ]
    assert snakemake(tmp_path, *SMOKE, "--", record).returncode == 0
    assert (tmp_path / record).read_bytes() == first


def test_a_run_during_which_the_clock_is_set_back_is_newer_than_what_it_read(tmp_path):
    folder, data = tmp_path / "run", tmp_path / "toy.npz"
    store.write(data, corpus())
    write_job(job(), folder)
    date([data, folder / "job.json"], DAY)  # as they look to a clock that was set back by a day
    assert (
        subprocess.run(train_command(folder, data), cwd=ROOT, capture_output=True).returncode == 0
    )
    assert all(path.stat().st_mtime <= time.time() for path in (data, folder / "job.json"))


def without_rights(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run Snakemake as a user who may write where the mode of a folder says so: root loses its
    rights for that.
    """
    rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if rights and (not shutil.which("setpriv") or subprocess.run([*rights, "true"]).returncode):
        pytest.skip("root cannot lay down its rights here")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [*rights, sys.executable, "-m", "snakemake", "--cores", "2", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=os.environ | {"PATH": path}
    )


@pytest.mark.parametrize("name", ["results/runs", "logs/train", ".snakemake/metadata"])
def test_a_folder_of_another_owner_is_named_before_anything_runs(name, tmp_path):
    record = planned(tmp_path)
    folder = tmp_path / name
    folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / record).with_name("job.json").unlink()
    (tmp_path / record).parent.rmdir()
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    said = without_rights(tmp_path, *SMOKE, "--", record)
    folder.chmod(0o755)
    lines = [
        line
        for line in said.stderr.splitlines()
        if f"{folder}: this folder is not writable" in line
    ]
    assert said.returncode and len(lines) == 1 and "Traceback" not in said.stderr, said.stderr[
        -3000:
    ]
    assert os.geteuid() or "it belongs to user 12345" in lines[0]
    assert not (tmp_path / record).parent.exists()
