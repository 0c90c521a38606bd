"""Runs that begin in a ready process: each is a process of its own, and ends as its own process would."""

import os
import pty
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests._copied import ROOT
from tests.ready._toy import Toy, eventually, lives
from workflow.config.environment import READY, variables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every run starts by itself")


@pytest.fixture
def master():
    """The process for whose time ready processes are kept."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def toy(master):
    with tempfile.TemporaryDirectory() as folder:  # short: the path of a socket has 107 characters at most
        toy = Toy(Path(folder), master.pid)
        yield toy
        master.kill()
        master.wait()
        eventually(lambda: not toy.ready())


def by_itself(toy: Toy) -> bool:
    """Whether the next run is a child of this process."""
    return toy.run("say")[1] == f"on {os.getpid()}"


def test_runs_are_forked_from_one_process_with_their_words_and_streams(toy):
    assert toy.run("say", "", "two words", "é\n")[:2] == (0, f" two words é\n on {toy.ready()[0]}".strip())
    assert toy.run("read", given="lines\nof text") == (0, "", "LINES\nOF TEXT")
    assert toy.run("say", "more")[1] == f"more on {toy.ready()[0]}"
    assert len(toy.ready()) == 1 and not by_itself(toy)


def test_scripts_of_a_group_share_a_ready_process_and_each_is_itself(toy):
    assert toy.run("count", "two") == (0, "toy.py 2", "")
    assert toy.run("count", script="twin") == (0, "twin.py 1", "")
    assert len(toy.ready()) == 1


def test_a_command_that_is_too_long_to_be_handed_over_is_run_by_itself_and_whole(toy):
    words = ["word"] * 100_000
    status, out, error = toy.run("count", *words)
    assert (status, out) == (0, "toy.py 100001")
    assert error.startswith("toy: starts by itself") and error.endswith("Message too long")


def test_a_command_of_which_a_part_arrives_is_run_by_itself_and_whole(toy):
    """Where a socket sends more than a ready process receives."""
    server = toy.folder / "workflow" / "ready" / "server.py"
    server.write_text(server.read_text().replace("LONGEST = 1 << 18", "LONGEST = 64"))
    assert toy.run("count", *["word"] * 100)[1] == "toy.py 101" and by_itself(toy) is False
    assert len(toy.ready()) == 1


def test_no_two_runs_draw_the_same_numbers(toy):
    drawn = {number for _ in range(3) for number in toy.run("draw")[1].split()}
    assert len(drawn) == 6


def test_a_run_ends_with_its_own_status(toy):
    assert toy.run("exit", "0")[0] == 0 and toy.run("exit", "7")[0] == 7
    status, _, error = toy.run("raise")
    assert status == 1 and error.endswith("ZeroDivisionError: as asked for")


def test_memory_and_its_limit_are_those_of_one_run(toy):
    """In MiB: what a run holds, and what it may."""
    status, _, error = toy.run("hold", "500", "200")
    assert status == 1 and error.endswith("MemoryError")
    assert int(toy.run("hold", "500", "2000")[1]) > 500 > 250 > int(toy.run("hold", "1", "2000")[1])


def test_a_crash_and_a_kill_are_said_and_leave_other_runs_alone(toy):
    bystander, _ = toy.begun("2")
    assert toy.run("abort") == (134, "", "toy: the run was ended by SIGABRT")
    victim, number = toy.begun("600")
    os.kill(number, signal.SIGKILL)
    assert victim.communicate()[1] == "toy: the run was ended by SIGKILL\n" and victim.returncode == 137
    assert bystander.communicate()[0] == "waiting\nwaited\n" and bystander.returncode == 0
    assert toy.run("exit", "0")[0] == 0 and len(toy.ready()) == 1


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 143), (signal.SIGINT, 1)])
def test_a_signal_to_the_command_reaches_its_run(toy, number, status):
    client, run = toy.begun("600")
    client.send_signal(number)
    assert "KeyboardInterrupt" in client.communicate()[1] or number == signal.SIGTERM
    assert client.returncode == status and not lives(run)


def test_a_killed_command_takes_its_run_with_it(toy):
    client, run = toy.begun("600")
    client.kill()
    client.communicate()
    eventually(lambda: not lives(run))
    assert toy.run("exit", "0")[0] == 0


def test_a_killed_ready_process_takes_its_runs_with_it_and_the_next_run_starts_another(toy):
    client, run = toy.begun("600")
    (first,) = toy.ready()
    os.kill(first, signal.SIGKILL)
    assert client.communicate()[1] == "toy: the ready process was ended, and its runs with it\n"
    assert client.returncode == 1
    eventually(lambda: not lives(run))
    assert toy.run("say")[1] == f"on {toy.ready()[0]}" and first not in toy.ready()


def test_clients_at_once_start_one_ready_process(toy):
    clients = [toy.start("say") for _ in range(8)]
    assert {client.communicate()[0] for client in clients} == {f"on {toy.ready()[0]}\n"} and len(toy.ready()) == 1


def test_changed_code_is_not_run_in_a_ready_process_that_has_read_it_before(toy):
    assert toy.run("say")[0] == 0
    (first,) = toy.ready()
    toy.write("print('changed')")
    assert toy.run("say")[1] != f"on {first}"  # its ready process said "changed", where nobody listens
    toy.write("raise SystemExit('refused')")
    status, _, error = toy.run("say")
    assert status == 1 and error.splitlines() == [
        "toy: starts by itself, as there is no ready process: it ended before the run began",
        "refused",
    ]


def test_another_environment_or_limit_is_another_ready_process(toy):
    assert toy.run("say")[0] == toy.run("say", OMP_NUM_THREADS="7")[0] == toy.run("say", SHLVL="7")[0] == 0
    assert len(toy.ready()) == 2
    command = "ulimit -n 99; exec " + subprocess.list2cmdline(
        [sys.executable, "-m", "workflow.scripts.toy", "exit", "3"]
    )
    ended = subprocess.run(["bash", "-c", command], cwd=toy.folder, env=toy.environment)
    assert ended.returncode == 3 and len(toy.ready()) == 3


def test_ready_processes_end_with_the_workflow_and_leave_no_socket(toy, master):
    client, run = toy.begun("1")
    (ready,) = toy.ready()
    master.kill()
    master.wait()
    eventually(lambda: {path.name for path in toy.sockets.iterdir()} == {"lock"})
    assert lives(run) and lives(ready)
    assert client.communicate()[0] == "waiting\nwaited\n" and client.returncode == 0
    eventually(lambda: not lives(ready))
    status, out, error = toy.run("say")
    assert (status, out) == (0, f"on {os.getpid()}") and "starts by itself" in error and "No such process" in error


def test_a_ready_process_to_which_nobody_comes_ends(toy):
    server = toy.folder / "workflow" / "ready" / "server.py"
    server.write_text(server.read_text().replace("IDLE = 60.0", "IDLE = 0.2"))
    assert toy.run("wait", str(toy.folder / "begun"), "0.5")[0] == 0
    eventually(lambda: not toy.ready())
    assert {path.name for path in toy.sockets.iterdir()} == {"lock"}
    assert not by_itself(toy)


def test_a_deserted_socket_is_removed(toy):
    assert toy.run("say")[0] == 0
    os.kill(toy.ready()[0], signal.SIGKILL)
    eventually(lambda: not toy.ready())
    assert toy.run("say", OTHER="1")[0] == 0
    assert len({path.name for path in toy.sockets.iterdir()} - {"lock"}) == 1


def test_without_a_folder_that_its_user_alone_may_enter_a_run_starts_by_itself(toy):
    toy.sockets.mkdir(mode=0o755)
    status, out, error = toy.run("say")
    assert (status, out) == (0, f"on {os.getpid()}")
    assert error.startswith("toy: starts by itself, as there is no ready process: ")
    assert "expected a folder that its user alone may enter" in error and not toy.ready()
    toy.sockets.rmdir()
    toy.sockets.write_text("a file")
    assert toy.run("exit", "5")[0] == 5


def test_a_workflow_keeps_ready_processes_unless_its_user_says_no(monkeypatch, tmp_path):
    """Whatever an outer workflow has set: its number may belong to another machine."""
    monkeypatch.setenv(READY, "1")
    assert variables(tmp_path, "{}", None)[READY] == str(os.getpid())
    monkeypatch.setenv(READY, "no")
    assert variables(tmp_path, "{}", None)[READY] == "no"


def test_what_every_run_waits_for_imports_next_to_nothing():
    slow = {"asyncio", "json", "multiprocessing", "numpy", "pathlib", "pydantic", "subprocess", "torch", "yaml"}
    code = f"import sys, workflow.scripts; sys.exit(str({slow} & {{*sys.modules}} or ''))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ended.stderr.strip() == ""


@pytest.mark.parametrize("value", ["", "no"])
def test_nobody_who_has_not_asked_gets_a_ready_process(toy, value):
    assert toy.run("say", ATTENTION_READY=value) == (0, f"on {os.getpid()}", "") and not toy.ready()
    del toy.environment["ATTENTION_READY"]
    assert toy.run("say") == (0, f"on {os.getpid()}", "") and not toy.ready()


def test_a_debugger_or_tracer_gets_a_process_of_its_own(toy):
    words = [sys.executable, "-X", "dev", "-m", "workflow.scripts.toy", "say"]
    ended = subprocess.run(words, cwd=toy.folder, env=toy.environment, capture_output=True, text=True)
    assert ended.stdout == f"on {os.getpid()}\n" and not toy.ready()


def test_lines_reach_a_terminal_as_they_are_written(toy):
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "workflow.scripts.toy", "wait", str(toy.folder / "begun"), "600"]
    with subprocess.Popen(words, cwd=toy.folder, env=toy.environment, stdout=theirs, stderr=theirs) as client:
        assert os.read(ours, 100).startswith(b"waiting")
        client.terminate()
    os.close(ours)
    os.close(theirs)
