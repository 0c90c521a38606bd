"""No command, Snakemake included, takes a word that it does not know for another one, or goes on
without it.
"""

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
    with pytest.raises(ConfigError, match="--no-such-option|required.*; see --help"):
        module.main()
    assert not any(capsys.readouterr()) and not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, line",
    [
        (["scale=smok"], "unknown scale 'smok': did you mean 'smoke'?"),
        (
            ["scale=laptop"],
            "config.yml: this file is never read; files that are read in config: config.yaml",
        ),
    ],
)
def test_snakemake_ends_in_one_line(words, line, tmp_path):
    if "config.yml" in line:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "config.yml").write_text("scale: smoke")
    ended = dry(tmp_path, *words)
    said = [line for line in (ended.stdout + ended.stderr).splitlines() if "config error" in line]
    assert ended.returncode and len(said) == 1 and line in said[0], ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {".snakemake", "config"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["scale=paper", "--", "span_limit"], ["corpus=null", "papers=null", "--", "adaptive_vs_xl"]],
)
def test_data_that_others_need_is_no_reason_and_null_is_a_value_of_the_command_line_too(
    words, tmp_path
):
    ended = dry(tmp_path, *words)
    assert ended.returncode == 0 and "train " in ended.stdout + ended.stderr, ended.stderr


def dry(folder: Path, *words: str) -> subprocess.CompletedProcess:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        str(ROOT / "workflow" / "Snakefile"),
        "-n",
        "--config",
        *words,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)
