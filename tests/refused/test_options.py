"""No command takes an option that it does not know for another one, or goes on without it."""

import importlib
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
