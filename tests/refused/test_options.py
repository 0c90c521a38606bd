"""No command, Snakemake included, takes a word that it does not know for another one, or goes on without it."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.config.errors import ConfigError
from workflow.config.files import ROOT

FOLDERS = ("workflow/cli", "workflow/scripts")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("[!_]*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_unknown_option_is_refused_in_a_line(path: Path, tmp_path, monkeypatch, capsys):
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    monkeypatch.setattr(sys, "argv", [path.name, "--no-such-option"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="--no-such-option|arguments are required: .*; --help says what there is"):
        module.main()
    assert not any(capsys.readouterr()) and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_snakemake_ends_in_one_line(tmp_path):
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), "-n"]
    ended = subprocess.run([*command, "--config", "scale=smok"], cwd=tmp_path, capture_output=True, text=True)
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "config error" in line]
    assert ended.returncode and len(said) == 1 and "unknown scale 'smok': did you mean 'smoke'?" in said[0]
    assert "Traceback" not in ended.stdout + ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {".snakemake"}
