"""An unwritable folder and a full disk are refused before anything starts."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from workflow.config import files
from workflow.config.errors import ConfigError
from workflow.config.files import HOST, NEEDED_MB, atomic_write, check_writable


def test_an_unwritable_folder_is_named(tmp_path, monkeypatch):
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr(files.os, "access", lambda folder, mode: folder.name != "reports")  # root may write anywhere
    with pytest.raises(ConfigError, match="reports: this folder is not writable"):
        check_writable(tmp_path)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(files.shutil, "disk_usage", lambda folder: SimpleNamespace(free=(NEEDED_MB << 20) - 1))
    with pytest.raises(ConfigError, match=f"{NEEDED_MB - 1} MB are free on this disk, at least {NEEDED_MB} MB"):
        check_writable(tmp_path)


def test_what_a_killed_process_had_begun_to_write_is_removed(tmp_path):
    """By the next that writes there; what is being written is left alone, on another machine too."""
    ended, not_waited_for = subprocess.Popen(["true"]), subprocess.Popen(["true"])
    ended.wait()
    os.waitid(os.P_PID, not_waited_for.pid, os.WEXITED | os.WNOWAIT)  # so it stays a zombie
    deserted = [tmp_path / f".record.json.{HOST}.{process.pid}.part" for process in (ended, not_waited_for)]
    kept = [tmp_path / f".curve.csv.{HOST}.{os.getppid()}.part", tmp_path / f".curve.csv.elsewhere.{ended.pid}.part"]
    for path in (*deserted, *kept):
        path.write_text("half")
    with atomic_write(tmp_path / "record.json") as file:
        file.write(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"record.json", *(path.name for path in kept)}
    not_waited_for.wait()


def test_a_folder_in_whose_name_snakemake_would_look_for_variables_is_refused(tmp_path):
    (tmp_path / "a{b}").mkdir()
    with pytest.raises(ConfigError, match="braces"):
        check_writable(tmp_path / "a{b}")


def test_a_suite_whose_folder_has_a_colon_cannot_be_named_in_pythonpath_and_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ROOT", tmp_path / "10:30")
    with pytest.raises(ConfigError, match="10:30: the workflow cannot run in, or from, .* braces or a colon"):
        check_writable(tmp_path)
