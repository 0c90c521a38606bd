"""Two workflows at once in one folder: the second is refused in a line, and the first is not disturbed."""

import os
import subprocess
import sys

import pytest

from tests._copied import ROOT

pytestmark = pytest.mark.slow


def test_the_second_of_two_workflows_in_one_folder_is_refused(tmp_path):
    path = os.pathsep.join([str(os.path.dirname(sys.executable)), os.environ["PATH"]])
    profile = ("--workflow-profile", str(ROOT / "profiles" / "default"), "--cores", "1")
    words = ("snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), *profile, "--config", "scale=smoke")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, "-m", *words, "--", "adaptive_span_shares"]
    both = [subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PATH": path}, **pipes) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], "\n".join(said)
    refused = said[both.index(max(both, key=lambda process: process.returncode))]
    lines = [line for line in refused.splitlines() if "another workflow works on scale smoke" in line]
    assert len(lines) == 1 and "Traceback" not in refused
    assert (tmp_path / "results" / "smoke" / "tables" / "adaptive_span_shares.csv").exists()
