"""An unwritable folder and a full disk are refused before anything starts."""

import multiprocessing
import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

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
)
from workflow.config.process import one_at_a_time, refuse_second


def write(path: Path) -> None:
    with atomic_write(path) as file:
        file.write(b"whole")


def test_an_unwritable_folder_is_named_with_its_owner(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    record = str(tmp_path / "runs" / "abc" / "record.json")
    refuse_unwritable([record])
    # root may write anywhere
    monkeypatch.setattr(files.os, "access", lambda folder, mode: folder.name != "runs")
    monkeypatch.setattr(files.os, "geteuid", lambda: 12345)
    with pytest.raises(ConfigError, match=f"{tmp_path}/runs: .*user 12345"):
        refuse_unwritable([record])


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    full = SimpleNamespace(free=(NEEDED_MB << 20) - 1)
    monkeypatch.setattr(files.shutil, "disk_usage", lambda folder: full)
    with pytest.raises(ConfigError, match=f"{NEEDED_MB - 1} MB free .* {NEEDED_MB} MB"):
        check_writable(tmp_path)
    # a file system that does not say how full it is is written to
    monkeypatch.setattr(files.shutil, "disk_usage", Mock(side_effect=OSError(38, "unknown")))
    check_writable(tmp_path)


def test_a_folder_whose_name_snakemake_or_python_would_misread_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a{b}").mkdir()
    with pytest.raises(ConfigError, match="braces"):
        check_writable(tmp_path / "a{b}")
    monkeypatch.setattr(files, "ROOT", tmp_path / "10:30")
    with pytest.raises(ConfigError, match="10:30: .*colon"):
        check_writable(tmp_path)


def test_times_in_the_future_become_now_in_their_order(tmp_path):
    now = time.time_ns()
    ahead = {"past": -5, "data": 100, "record": 200, "curve": 200, "answer": 300}
    paths = [tmp_path / name for name in ahead]
    for path in paths:
        path.touch()
        os.utime(path, ns=(now + ahead[path.name] * 10**9,) * 2)
    with pytest.raises(ConfigError, match="data: .* in the future"):
        refuse_future([str(tmp_path / "none"), *map(str, paths)])
    end_future(files_below(str(tmp_path)))
    past, data, record, curve, answer = (path.stat().st_mtime_ns for path in paths)
    assert past == now - 5 * 10**9
    assert past < data < record == curve < answer <= time.time_ns()


def test_where_a_file_cannot_even_be_begun_it_is_named(tmp_path):
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "below" / "record.json"
    with pytest.raises(CannotWrite) as refused:
        write(place)
    assert refused.value.filename == str(place)


def test_what_a_killed_process_had_begun_to_write_is_removed_by_the_next(tmp_path):
    """Files of a living process and of another machine are left alone."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    for process in (ended, zombie):
        (tmp_path / f".record.json.{HOST}.{process.pid}.part").touch()
    kept = {f".curve.csv.{HOST}.{os.getppid()}.part", f".curve.csv.elsewhere.{ended.pid}.part"}
    for name in kept:
        (tmp_path / name).touch()
    write(tmp_path / "record.json")
    zombie.wait()
    assert {path.name for path in tmp_path.iterdir()} == {"record.json", *kept}


def test_a_folder_is_listed_without_what_systems_and_editors_leave_in_it(tmp_path):
    wanted = ["a#b~c.yaml", "a.yaml", "notes.txt"]
    left = ["._a.yaml", ".DS_Store", ".a.yaml.swp", "#a.yaml#", "a.yaml~", "~$a.yaml", "Thumbs.db"]
    for name in (*wanted, *left):
        (tmp_path / name).touch()
    for name in ("__pycache__", "lost+found", "@eaDir", "$RECYCLE.BIN", ".ipynb_checkpoints"):
        (tmp_path / name).mkdir()
    assert [path.name for path in list_folder(tmp_path)] == wanted
    assert [path.name for path in list_folder(tmp_path, ".txt")] == ["notes.txt"]
    assert list_folder(tmp_path / "none") == []


@pytest.mark.parametrize("call", ["os.open", "workflow.config.process.flock"])
def test_a_lock_that_cannot_be_had_is_said_and_ends_no_workflow(
    call, tmp_path, monkeypatch, capsys
):
    """Another user has written it in a shared folder, or the file system has no locks."""
    monkeypatch.setattr(call, Mock(side_effect=PermissionError(13, "Permission denied")))
    refuse_second(tmp_path / "smoke.lock", "scale smoke")
    (line,) = capsys.readouterr().err.splitlines()
    assert "scale smoke" in line
    assert str(tmp_path / "smoke.lock") in line


def test_processes_that_write_the_same_page_wait_for_each_other(tmp_path):
    here, there = multiprocessing.Pipe()

    def enter():
        there.send("waits")
        with one_at_a_time(tmp_path):
            there.send("is in")

    other = multiprocessing.get_context("fork").Process(target=enter)
    with one_at_a_time(tmp_path):
        other.start()
        assert here.recv() == "waits"
        assert not here.poll(0.2)
    assert here.recv() == "is in"
    other.join()
    assert list_folder(tmp_path) == []
