"""A run through a real SLURM of one node, interrupted: about a minute on an idle machine.

Ways after the first are tried where EVERY_WAY is set.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests._copied import copied
from tests._training import train_command
from tests.cluster.slurm import eventually, missing, one_node
from workflow.plan.estimate import UNKNOWN
from workflow.results.record import read_record

ABSENT = importlib.util.find_spec("snakemake_executor_plugin_slurm") is None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.skipif(ABSENT, reason="the extra `cluster` is not installed"),
]
QUESTION = """\
question: Does a long run end with the same bits?
paper: adaptive_span
corpora: [text8]
variants:
  adaptive: {span: adaptive, S: max}
"""
COMMAND = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm"]
COMMAND += ["--slurm-status-command", "squeue", "--until", "train"]
COMMAND += ["--slurm-init-seconds-before-status-checks", "2"]
CONFIG = ["--config", "scale=smoke", "device=cpu", "questions=[long]", "--", "long"]
TOO_SHORT = [
    "--set-resources",
    "train:runtime=attempt",
    "train:slurm_extra=\"'--signal=USR1@30'\"",
]
FIRST = "SIGUSR1"
BY_HAND = pytest.mark.skipif("EVERY_WAY" not in os.environ, reason="EVERY_WAY=1 tries it")
WAYS = {  # the words of SLURM's command, before the number of the job
    "SIGTERM": ["scancel", "--signal=TERM"],
    "a limit that is too short": [],
    "another job that comes first": [
        "sbatch",
        "--partition=first",
        "--exclusive",
        "--wrap=true",
        "-o/dev/null",
    ],
    "requeued by hand": ["scontrol", "requeue"],
}
PARAMETERS = [pytest.param(FIRST, ["scancel", "--signal=USR1"])]
PARAMETERS += [pytest.param(way, words, marks=BY_HAND) for way, words in WAYS.items()]


@pytest.fixture(scope="module")
def node():
    """Give the environment of a cluster of one node."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, ExitStack() as stack:
        try:
            environment = stack.enter_context(one_node(Path(folder)))
        except (RuntimeError, OSError) as error:
            pytest.skip(str(error))
        yield environment


def write_project(folder: Path, steps: int) -> None:
    """Copy the project, with one run that is scored and kept in the middle and at the end."""
    folder.mkdir()
    copied(folder)
    question = folder / "studies" / "own" / "questions" / "long.yaml"
    question.write_text(QUESTION)
    scale = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
    half = steps // 2
    text = scale.read_text()
    text = re.sub(r"steps: 6\b", f"steps: {steps}", text)
    # still a short run, and no slow machine ends it
    text = re.sub(r"time_limit_s: 120\b", "time_limit_s: 480", text)
    text = re.sub(r"(evaluate|checkpoint)_every: 3\b", rf"\1_every: {half}", text)
    scale.write_text(text)


def list_jobs(node: dict[str, str]) -> list[dict[str, str]]:
    """Read what SLURM knows of the jobs that train: key -> value."""
    command = ["scontrol", "--oneliner", "show", "job"]
    shown = subprocess.run(command, env=node, capture_output=True, text=True)
    jobs = []
    for line in shown.stdout.splitlines():
        job = dict(re.findall(r"(\S+?)=(\S*)", line))
        comment = job.get("Comment", "")
        if comment.startswith("rule_short"):
            jobs.append(job)
    return jobs


def interrupt(words: list[str], folder: Path, node: dict[str, str]) -> list[dict[str, str]]:
    """Interrupt a run after its first point of the curve, or by its limit where words is empty.

    Returns the run's SLURM jobs, once it has ended.
    """
    before = [job["JobId"] for job in list_jobs(node)]

    def own_jobs() -> list[dict[str, str]]:
        return [job for job in list_jobs(node) if job["JobId"] not in before]

    def has_point() -> bool:
        logs = (folder / "logs/train").glob("*.log")
        return any("step" in path.read_text() for path in logs)

    write_project(folder, 1500 if words else 6000)
    limit = [] if words else TOO_SHORT
    command = [*COMMAND, *limit, *CONFIG]
    log = folder / "snakemake.log"
    with open(log, "w") as said:
        workflow = subprocess.Popen(command, cwd=folder, env=node, stdout=said, stderr=said)
    try:
        if words:
            eventually(has_point, 300)
            (job,) = own_jobs()
            number = [] if words[0] == "sbatch" else [job["JobId"]]
            subprocess.run([*words, *number], env=node, check=True)
        assert workflow.wait(900) == 0, log.read_text()[-3000:]
    finally:
        workflow.kill()
        workflow.wait()
    return own_jobs()


def assert_same_bits(folder: Path, node: dict[str, str]) -> None:
    """Compare curve, metrics, facts and weights with those of the run without interruption."""
    (run,) = (path.parent for path in folder.glob("results/runs/*/record.json"))
    data, *_ = (folder / "results" / "data").glob("*.npz")
    again = folder / "again"
    again.mkdir()
    shutil.copy(run / "job.json", again)
    command = train_command(again, data)
    subprocess.run(command, cwd=folder, env=node, check=True, capture_output=True)
    ours = read_record(run / "record.json")
    other = read_record(again / "record.json")
    assert ours.status == "ok"
    assert other.status == "ok"
    assert ours.metrics == other.metrics
    assert ours.facts == other.facts
    for one, two in zip(ours.curve, other.curve, strict=True):
        speed = {"tokens_per_s": one.tokens_per_s}
        assert one == two.model_copy(update=speed)
    weights = (run / "weights.pt").read_bytes()
    assert weights == (again / "weights.pt").read_bytes()


@pytest.mark.parametrize("way, words", PARAMETERS)
def test_a_run_that_slurm_interrupts_ends_with_the_same_bits(way, words, node, tmp_path):
    """As none has ended, it asks for its own limit of eight minutes, and two at each attempt."""
    folder = tmp_path / "suite"
    jobs = interrupt(words, folder, node)
    assert jobs[-1]["JobState"] == "COMPLETED"
    assert_same_bits(folder, node)
    if way == FIRST:
        first, second = jobs
        assert first["JobState"] == "FAILED"
        assert first["TimeLimit"] == "00:10:00"
        assert first["MinMemoryNode"] == f"{UNKNOWN}M"
        assert second["TimeLimit"] == "00:20:00"
        assert second["MinMemoryNode"] == f"{2 * UNKNOWN}M"
