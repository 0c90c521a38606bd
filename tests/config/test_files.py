"""An unwritable folder and a full disk are refused before anything starts."""

import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from workflow.config import files
from workflow.config.errors import ConfigError
from workflow.config.files import (
    HOST,
    NEEDED_MB,
    CannotWrite,
    atomic_write,
    check_writable,
    end_future,
    files_below,
    list_folder,
    refuse_future,
    refuse_unwritable,
    user_path,
)
from workflow.config.process import refuse_second


def test_an_unwritable_folder_is_named(tmp_path, monkeypatch):
    (tmp_path / "reports").mkdir()
    # root may write anywhere
    monkeypatch.setattr(files.os, "access", lambda folder, mode: folder.name != "reports")
    with pytest.raises(ConfigError, match="reports: this folder is not writable"):
        check_writable(tmp_path)


def test_of_files_to_write_the_nearest_folder_that_is_there_is_looked_at(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    written = [
        str(tmp_path / "runs" / "abc" / "record.json"),
        str(tmp_path / "runs" / "x" / "record.json"),
    ]
    refuse_unwritable(written)
    monkeypatch.setattr(files.os, "access", lambda folder, mode: folder.name != "runs")
    monkeypatch.setattr(files.os, "geteuid", lambda: 12345)
    with pytest.raises(
        ConfigError,
        match=f"{tmp_path}/runs: this folder is not writable; it belongs to .*user 12345",
    ):
        refuse_unwritable(written)


def test_times_in_the_future_become_now_in_their_order(tmp_path):
    now = time.time_ns()
    ahead = {"past": -5, "data": 100, "record": 200, "curve": 200, "answer": 300}
    for name, seconds in ahead.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(now + seconds * 10**9,) * 2)
    with pytest.raises(ConfigError, match="data: modified .* seconds in the future"):
        refuse_future([str(tmp_path / "past"), str(tmp_path / "none"), str(tmp_path / "data")])
    end_future(files_below(str(tmp_path)))
    changed = {name: (tmp_path / name).stat().st_mtime_ns for name in ahead}
    assert changed["past"] == now - 5 * 10**9 and changed["record"] == changed["curve"]
    assert (
        changed["past"] < changed["data"] < changed["record"] < changed["answer"] <= time.time_ns()
    )
    refuse_future(str(tmp_path / name) for name in ahead)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(
        files.shutil, "disk_usage", lambda folder: SimpleNamespace(free=(NEEDED_MB << 20) - 1)
    )
    with pytest.raises(
        ConfigError, match=f"{NEEDED_MB - 1} MB free on this disk; at least {NEEDED_MB} MB"
    ):
        check_writable(tmp_path)


def test_where_a_file_cannot_even_be_begun_it_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(CannotWrite) as refused,
        atomic_write(tmp_path / "file" / "below" / "record.json"),
    ):
        pass
    assert refused.value.filename == str(tmp_path / "file" / "below" / "record.json")


def test_what_a_killed_process_had_begun_to_write_is_removed(tmp_path):
    """By the next that writes there; what is being written is left alone, on another machine
    too.
    """
    ended, not_waited_for = subprocess.Popen(["true"]), subprocess.Popen(["true"])
    ended.wait()
    os.waitid(os.P_PID, not_waited_for.pid, os.WEXITED | os.WNOWAIT)  # so it stays a zombie
    deserted = [
        tmp_path / f".record.json.{HOST}.{process.pid}.part" for process in (ended, not_waited_for)
    ]
    kept = [
        tmp_path / f".curve.csv.{HOST}.{os.getppid()}.part",
        tmp_path / f".curve.csv.elsewhere.{ended.pid}.part",
    ]
    for path in (*deserted, *kept):
        path.write_text("half")
    with atomic_write(tmp_path / "record.json") as file:
        file.write(b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {
        "record.json",
        *(path.name for path in kept),
    }
    not_waited_for.wait()


def test_a_folder_is_listed_without_what_systems_and_editors_leave_in_it(tmp_path):
    left = ["._a.yaml", ".DS_Store", ".a.yaml.swp", ".#a.yaml", "#a.yaml#", "a.yaml~", "~$a.yaml"]
    for name in ("b.yaml", "a.yaml", "a#b~c.yaml", "notes.txt", "Thumbs.db", "desktop.ini", *left):
        (tmp_path / name).touch()
    for name in (
        "__pycache__",
        "lost+found",
        "@eaDir",
        "$RECYCLE.BIN",
        "__MACOSX",
        ".ipynb_checkpoints",
    ):
        (tmp_path / name).mkdir()
    assert [path.name for path in list_folder(tmp_path)] == [
        "a#b~c.yaml",
        "a.yaml",
        "b.yaml",
        "notes.txt",
    ]
    assert [path.name for path in list_folder(tmp_path, ".txt")] == ["notes.txt"]
    assert list_folder(tmp_path / "none") == list_folder(tmp_path / "a.yaml") == []


def test_what_cannot_be_removed_or_asked_about_hinders_no_writing(tmp_path, monkeypatch):
    """A file that another user's process left, in a folder where only its owner may remove it; and
    hidden processes.
    """
    left = [tmp_path / f".record.json.{HOST}.{number}.part" for number in (1, "9" * 25)]
    for path in left:
        path.write_text("half")
    monkeypatch.setattr(
        Path, "unlink", Mock(side_effect=PermissionError(1, "Operation not permitted"))
    )
    for error in (psutil.AccessDenied(1), psutil.NoSuchProcess(1), FileNotFoundError("/proc")):
        monkeypatch.setattr("psutil.Process", Mock(side_effect=error))
        files._remove_deserted.cache_clear()
        with atomic_write(tmp_path / "record.json") as file:
            file.write(b"whole")
    assert (tmp_path / "record.json").read_bytes() == b"whole" and all(
        path.exists() for path in left
    )


def test_a_file_system_that_does_not_say_how_full_it_is_is_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(
        files.shutil, "disk_usage", Mock(side_effect=OSError(38, "Function not implemented"))
    )
    check_writable(tmp_path)


@pytest.mark.parametrize("call", ["os.open", "workflow.config.process.flock"])
def test_a_lock_that_cannot_be_had_is_said_and_ends_no_workflow(
    call, tmp_path, monkeypatch, capsys
):
    """As one that another user has written in a shared folder, or on a file system without
    locks.
    """
    monkeypatch.setattr(call, Mock(side_effect=PermissionError(13, "Permission denied")))
    refuse_second(tmp_path / "smoke.lock", "scale smoke")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cannot lock scale smoke") and line.endswith(
        f"{tmp_path / 'smoke.lock'}: Permission denied"
    )


def test_a_folder_in_whose_name_snakemake_would_look_for_variables_is_refused(tmp_path):
    (tmp_path / "a{b}").mkdir()
    with pytest.raises(ConfigError, match="braces"):
        check_writable(tmp_path / "a{b}")


def test_a_suite_whose_folder_has_a_colon_cannot_be_named_in_pythonpath_and_is_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "ROOT", tmp_path / "10:30")
    with pytest.raises(ConfigError, match="10:30: the workflow cannot run .* braces or a colon"):
        check_writable(tmp_path)


def test_a_users_path_is_what_is_called_so_or_lies_in_a_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in (" blanks ", "~mine"):
        (tmp_path / name).touch()
    for word, path in (
        (" blanks ", " blanks "),
        ("~mine", "~mine"),
        (" ~/a ", tmp_path / "home" / "a"),
        (" b", "b"),
    ):
        assert user_path(word, "corpus") == Path(path)


def test_a_file_may_have_the_longest_name_that_there_is(tmp_path):
    with atomic_write(tmp_path / ("q" * 255)) as file:
        file.write(b"whole")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]
