"""Two workflows in one folder: at once, the second is refused in a line; after one that was killed,
it goes on.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.slow
TARGET = "feed_forward_share"


def begin(folder) -> subprocess.Popen:
    path = os.pathsep.join([str(os.path.dirname(sys.executable)), os.environ["PATH"]])
    profile = ("--workflow-profile", str(ROOT / "profiles" / "default"), "--cores", "1")
    words = (
        "snakemake",
        "-s",
        str(ROOT / "workflow" / "Snakefile"),
        *profile,
        "--config",
        "scale=smoke",
        "--",
        TARGET,
    )
    pipes = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "start_new_session": True,
    }
    return subprocess.Popen(
        [sys.executable, "-m", *words], cwd=folder, env={**os.environ, "PATH": path}, **pipes
    )


def test_the_second_of_two_workflows_in_one_folder_is_refused(tmp_path):
    both = [begin(tmp_path) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], "\n".join(said)
    refused = said[both.index(max(both, key=lambda process: process.returncode))]
    lines = [
        line
        for line in refused.splitlines()
        if "another workflow is running on scale smoke" in line
    ]
    assert len(lines) == 1 and "Traceback" not in refused
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
    assert again.communicate()[0] and again.returncode == 0
    assert (tmp_path / "results" / "smoke" / "ledger.json").exists()
