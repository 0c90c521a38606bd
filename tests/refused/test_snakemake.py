"""The workflow's own door: `snakemake` as people start it, in a folder of theirs."""

import subprocess
import sys

import pytest

from workflow.config.files import ROOT


@pytest.mark.slow
def test_snakemake_ends_in_one_line(tmp_path):
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), "-n"]
    ended = subprocess.run([*command, "--config", "scale=smok"], cwd=tmp_path, capture_output=True, text=True)
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "config error" in line]
    assert ended.returncode and len(said) == 1 and "unknown scale 'smok': did you mean 'smoke'?" in said[0]
    assert "Traceback" not in ended.stdout + ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {".snakemake"}
