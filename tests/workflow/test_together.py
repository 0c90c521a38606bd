"""Two at once: two workflows in one folder, and two that share a run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests._jobs import corpus, job
from tests._training import write_job
from workflow.config.lifetime import ENDS_WITH
from workflow.data.text import store
from workflow.results.record import read_record

pytestmark = pytest.mark.slow


def begun(folder: Path, *words: str, **variables: str) -> subprocess.Popen:
    """`python -m words`, not waited for; what it says goes through one pipe."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-m", *words], cwd=folder, env=environment, **pipes)


def test_two_workflows_in_one_folder_take_turns(tmp_path):
    """The second waits for the first, is told so, and then finds nothing left to do."""
    profile = ("--workflow-profile", str(ROOT / "profiles" / "default"), "--cores", "1")
    words = ("snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), *profile, "--config", "scale=smoke")
    both = [begun(tmp_path, *words, "--", "adaptive_span_shares") for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(said)
    first, second = sorted(zip(said, both, strict=True), key=lambda pair: "waits for" in pair[0])
    assert "waits for" not in first[0]
    assert f"scale smoke: waits for process {first[1].pid} of" in second[0] and "Nothing to be done" in second[0]
    assert (tmp_path / "results" / "smoke" / "tables" / "adaptive_span_shares.csv").exists()
    assert not list(tmp_path.glob("re[ps]*/**/.*"))


def test_two_workflows_that_share_a_run_train_it_once(tmp_path):
    """On whatever folder both see: the second waits for the first, and takes what that has made."""
    store.write(tmp_path / "toy.npz", corpus())
    path = write_job(job(steps=300, checkpoint_every=100), tmp_path / "run")
    words = ("workflow.scripts.train", str(path), "--data", str(tmp_path / "toy.npz"), "--device", "cpu")
    both = [begun(ROOT, *words, **{ENDS_WITH: str(os.getpid())}) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(said)
    first, second = sorted(said, key=lambda text: "made meanwhile" in text)
    assert "step 300" in first and "step " not in second
    assert f"run {job(steps=300, checkpoint_every=100).digest}: waits for process" in second
    assert read_record(path.parent / "record.json").status == "ok"
    names = {each.name for each in path.parent.iterdir()}
    assert names == {"job.json", "record.json", "curve.csv", "weights.pt"}
