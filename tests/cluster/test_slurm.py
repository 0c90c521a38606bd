"""A run through a real SLURM of one node, interrupted in each of its ways: about a minute each on
an idle machine.

Ways beside the first are tried where EVERY_WAY is set.
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
pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=str(missing()))]
pytestmark += [pytest.mark.skipif(ABSENT, reason="the extra `cluster` is not installed")]
QUESTION = """\
question: Does a long run end with the same bits?
paper: adaptive_span
corpora: [text8]
variants:
  adaptive: {span: adaptive, S: max}
"""
WORDS = ["--workflow-profile", "profiles/slurm", "--slurm-status-command", "squeue"]
WORDS += ["--slurm-init-seconds-before-status-checks", "2", "--until", "train"]
CONFIG = ["--config", "scale=smoke", "device=cpu", "questions=[long]", "--", "long"]
TOO_SHORT = ["--set-resources", "train:runtime=attempt", "train:slurm_extra=\"'--signal=USR1@30'\""]
WAYS = {  # the words of SLURM's command, before the number of the job
    "SIGUSR1": ["scancel", "--signal=USR1"],
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
first, *others = WAYS
by_hand = pytest.mark.skipif("EVERY_WAY" not in os.environ, reason="EVERY_WAY=1 tries it")


@pytest.fixture(scope="module")
def node():
    """Give the environment of a cluster of one node."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, ExitStack() as stack:
        try:
            environment = stack.enter_context(one_node(Path(folder)))
        except (RuntimeError, OSError) as error:
            pytest.skip(str(error))
        yield environment


def project(folder: Path, steps: int) -> Path:
    """Copy the project, with a question about one run that is scored and kept in the middle and at
    the end alone.
    """
    folder.mkdir()
    copied(folder)
    (folder / "studies" / "own" / "questions" / "long.yaml").write_text(QUESTION)
    path = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
    text = re.sub(r"steps: 6\b", f"steps: {steps}", path.read_text())
    # still a short run, and no slow machine ends it
    text = re.sub(r"time_limit_s: 120\b", "time_limit_s: 480", text)
    path.write_text(re.sub(r"(evaluate|checkpoint)_every: 3\b", rf"\1_every: {steps // 2}", text))
    return folder


def jobs(node: dict[str, str]) -> list[dict[str, str]]:
    """Read what SLURM knows of the jobs that train: key -> value."""
    said = subprocess.run(
        ["scontrol", "--oneliner", "show", "job"], env=node, capture_output=True, text=True
    ).stdout
    return [
        dict(re.findall(r"(\S+?)=(\S*)", line))
        for line in said.splitlines()
        if "Comment=rule_short" in line
    ]


def interrupted(way: str, folder: Path, node: dict[str, str]) -> list[dict[str, str]]:
    """Interrupt a run after its first point of the curve, or by its limit; return its SLURM jobs,
    once it has ended.
    """
    words, before = WAYS[way], {job["JobId"] for job in jobs(node)}
    project(folder, 1500 if words else 6000)
    command = [sys.executable, "-m", "snakemake", *WORDS, *([] if words else TOO_SHORT), *CONFIG]
    log = folder / "snakemake.log"
    with open(log, "w") as said:
        workflow = subprocess.Popen(command, cwd=folder, env=node, stdout=said, stderr=said)
    try:
        if words:
            logs = folder / "logs" / "train"
            eventually(lambda: any("step" in path.read_text() for path in logs.glob("*.log")), 300)
            (job,) = (job["JobId"] for job in jobs(node) if job["JobId"] not in before)
            subprocess.run([*words, *([] if words[0] == "sbatch" else [job])], env=node, check=True)
        assert workflow.wait(900) == 0, log.read_text()[-3000:]
    finally:
        workflow.kill()
        workflow.wait()
    return [job for job in jobs(node) if job["JobId"] not in before]


def same_bits(folder: Path, node: dict[str, str]) -> bool:
    """Whether curve, metrics, facts and weights are those of the run in one sitting."""
    (run,) = (path.parent for path in folder.glob("results/runs/*/record.json"))
    again, (data, *_) = folder / "again", (folder / "results" / "data").glob("*.npz")
    again.mkdir()
    shutil.copy(run / "job.json", again)
    subprocess.run(
        train_command(again, data), cwd=folder, env=node, check=True, capture_output=True
    )
    records = [read_record(path / "record.json") for path in (run, again)]
    curves = [
        [point.model_dump(exclude={"tokens_per_s"}) for point in record.curve] for record in records
    ]
    numbers = [(record.status, record.metrics, record.facts) for record in records]
    weights = [(path / "weights.pt").read_bytes() for path in (run, again)]
    return numbers[0][0] == "ok" and all(one == other for one, other in (curves, numbers, weights))


@pytest.mark.parametrize("way", [first, *(pytest.param(way, marks=by_hand) for way in others)])
def test_a_run_that_slurm_interrupts_ends_with_the_same_bits(way, node, tmp_path):
    """As none has ended, it asks for its own limit of eight minutes, and two at each attempt."""
    asked = interrupted(way, tmp_path / "suite", node)
    assert asked[-1]["JobState"] == "COMPLETED" and same_bits(tmp_path / "suite", node)
    if way == first:
        assert [job["JobState"] for job in asked] == ["FAILED", "COMPLETED"] and asked[0][
            "NumCPUs"
        ] == "1"
        assert [job["TimeLimit"] for job in asked] == ["00:10:00", "00:20:00"]
        assert [job["MinMemoryNode"] for job in asked] == [f"{UNKNOWN}M", f"{2 * UNKNOWN}M"]
