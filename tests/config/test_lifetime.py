"""What a workflow starts ends with it."""

import os
import signal
import subprocess
import sys

import pytest

from tests._copied import ROOT
from tests.ready._toy import eventually, lives
from workflow.config.lifetime import ENDS_WITH

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system cannot wait for any process")
SCRIPT = "import os, time; from workflow.config.command_line import run; "
SCRIPT += "run(lambda: (print(os.getpid(), flush=True), time.sleep(600)))"


@pytest.fixture
def workflow():
    """A process with which others end."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def script(workflow: subprocess.Popen, *before: str) -> subprocess.Popen:
    words = [*before, sys.executable, "-c", SCRIPT]
    environment = {**os.environ, ENDS_WITH: str(workflow.pid)}
    return subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_script_ends_when_its_workflow_is_killed(workflow):
    with script(workflow) as process:
        assert process.stdout.readline().strip() == str(process.pid)
        workflow.kill()
        workflow.wait()
        assert process.wait(60) == -signal.SIGKILL


def test_a_script_ends_when_the_shell_between_is_killed(workflow):
    with script(workflow, "bash", "-c", '"$@"; true', "bash") as shell:
        number = int(shell.stdout.readline())
        assert number != shell.pid
        shell.kill()
        eventually(lambda: not lives(number))


def test_a_script_of_a_workflow_that_has_ended_does_not_begin(workflow):
    workflow.kill()
    workflow.wait()
    with script(workflow) as process:
        assert process.wait(60) == -signal.SIGKILL and process.stdout.read() == ""
