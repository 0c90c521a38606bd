"""Two workflows in one folder: at once, the second is refused; after a killed one, it goes on."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile")]
COMMAND += ["--workflow-profile", str(ROOT / "profiles" / "default"), "--cores", "1"]
COMMAND += ["--config", "scale=smoke", "--", "feed_forward_share"]


def begin(folder) -> subprocess.Popen:
    path = [os.path.dirname(sys.executable), os.environ["PATH"]]
    return subprocess.Popen(
        COMMAND,
        cwd=folder,
        env={**os.environ, "PATH": os.pathsep.join(path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_the_second_of_two_workflows_in_one_folder_is_refused(tmp_path):
    both = [begin(tmp_path) for _ in range(2)]
    said = {process.communicate()[0]: process.returncode for process in both}
    assert sorted(said.values()) == [0, 1]
    (refused,) = (text for text, code in said.items() if code)
    assert refused.count("another workflow is running on scale smoke") == 1
    assert (tmp_path / "results" / "smoke" / "ledger.json").exists()


def test_a_workflow_that_was_killed_is_started_again_by_the_same_command(tmp_path):
    """Without --unlock, whatever it was doing."""
    killed = begin(tmp_path)
    while not list((tmp_path / "results" / "runs").glob("*/job.json")):
        assert killed.poll() is None
        time.sleep(0.1)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    again = begin(tmp_path)
    again.communicate()
    assert again.returncode == 0
    assert (tmp_path / "results" / "smoke" / "ledger.json").exists()
