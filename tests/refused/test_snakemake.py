"""The workflow's own door: `snakemake` as people start it, in a folder of theirs."""

import subprocess
import sys

import pytest

from workflow.config.files import ROOT

CASES = {
    "an unknown key": ("scal: smoke", [], "unknown key 'scal': did you mean 'scale'?"),
    "no YAML": ("scale: [", [], "not YAML"),
    "a value of --config": (None, ["--config", "scale=smok"], "unknown scale 'smok': did you mean 'smoke'?"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_snakemake_ends_in_one_line(case, tmp_path):
    text, words, says = CASES[case]
    if text is not None:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "config.yaml").write_text(text)
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), "-n", *words]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "config error" in line]
    assert ended.returncode and len(said) == 1 and says in said[0], ended.stderr[-2000:]
    assert "Traceback" not in ended.stdout + ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"config", ".snakemake"}
