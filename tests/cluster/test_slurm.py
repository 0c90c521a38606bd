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
TOO_SHORT = ["--set-resources", "train:runtime=attempt", "train:slurm_extra=\"'--signal=USR1@30'\""]
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
    (folder / "studies" / "own" / "questions" / "long.yaml").write_text(QUESTION)
    path = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
    text = re.sub(r"steps: 6\b", f"steps: {steps}", path.read_text())
    # still a short run, and no slow machine ends it
    text = re.sub(r"time_limit_s: 120\b", "time_limit_s: 480", text)
    path.write_text(re.sub(r"(evaluate|checkpoint)_every: 3\b", rf"\1_every: {steps // 2}", text))


def list_jobs(node: dict[str, str]) -> list[dict[str, str]]:
    """Read what SLURM knows of the jobs that train: key -> value."""
    command = ["scontrol", "--oneliner", "show", "job"]
    lines = subprocess.run(command, env=node, capture_output=True, text=True).stdout.splitlines()
    jobs = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines]
    return [job for job in jobs if job.get("Comment", "").startswith("rule_short")]


def interrupt(words: list[str], folder: Path, node: dict[str, str]) -> list[dict[str, str]]:
    """Interrupt a run after its first point of the curve, or by its limit where words is empty.

    Returns the run's SLURM jobs, once it has ended.
    """
    before = [job["JobId"] for job in list_jobs(node)]

    def own_jobs() -> list[dict[str, str]]:
        return [job for job in list_jobs(node) if job["JobId"] not in before]

    def has_point() -> bool:
        return any("step" in path.read_text() for path in (folder / "logs/train").glob("*.log"))

    write_project(folder, 1500 if words else 6000)
    command = [*COMMAND, *([] if words else TOO_SHORT), *CONFIG]
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
    ours, other = (read_record(path / "record.json") for path in (run, again))
    assert ours.status == other.status == "ok"
    assert (ours.metrics, ours.facts) == (other.metrics, other.facts)
    for one, two in zip(ours.curve, other.curve, strict=True):
        assert one == two.model_copy(update={"tokens_per_s": one.tokens_per_s})
    assert (run / "weights.pt").read_bytes() == (again / "weights.pt").read_bytes()


@pytest.mark.parametrize("way, words", PARAMETERS)
def test_a_run_that_slurm_interrupts_ends_with_the_same_bits(way, words, node, tmp_path):
    """As none has ended, it asks for its own limit of eight minutes, and two at each attempt."""
    jobs = interrupt(words, tmp_path / "suite", node)
    assert jobs[-1]["JobState"] == "COMPLETED"
    assert_same_bits(tmp_path / "suite", node)
    if way == FIRST:
        assert [job["JobState"] for job in jobs] == ["FAILED", "COMPLETED"]
        assert [job["TimeLimit"] for job in jobs] == ["00:10:00", "00:20:00"]
        assert [job["MinMemoryNode"] for job in jobs] == [f"{UNKNOWN}M", f"{2 * UNKNOWN}M"]
