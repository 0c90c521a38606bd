"""No command takes a word that it does not know for another one, or goes on without it."""

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
    with pytest.raises(ConfigError, match="--no-such-option|required"):
        module.main()
    assert not any(capsys.readouterr())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, code, says",
    [
        (["scale=smok"], 1, "unknown scale 'smok': did you mean 'smoke'?"),
        # data that others need is no reason
        (["scale=paper", "--", "span_limit"], 0, "train "),
        (["corpus=null", "papers=null", "--", "adaptive_vs_xl"], 0, "train "),
    ],
)
def test_snakemake_refuses_in_one_line_or_plans(words, code, says, tmp_path):
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow" / "Snakefile"), "-n"]
    words = [*command, "--config", *words]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    assert ended.returncode == code, said
    assert says in said
    assert said.count("config error") == code
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} <= {".snakemake"}
