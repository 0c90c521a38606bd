"""A run that SLURM interrupts in each of its ways, and what becomes of it: `python -m tests.cluster.interrupted`.

In each way a workflow sends one run to a SLURM of one node, the run is interrupted, and the workflow waits for its end.
Its numbers and weights are compared with those of the same run in one sitting. About a minute each on an idle machine.
"""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests._copied import copied
from tests.cluster.slurm import eventually, missing, one_node
from workflow.results.record import read_record

POLLED = ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2"]
CONFIG = ["scale=smoke", "device=cpu", "ablations=[long]"]
ABLATION = """\
question: Does a long run end with the same bits?
paper: adaptive_span
corpora: [text8]
variants:
  adaptive: {span: adaptive, S: max}
"""
SHORT = ["--set-resources", "train:runtime=attempt", "train:slurm_extra=\"'--signal=USR1@30'\""]


WAYS = {  # the words of SLURM's command, before the number of the job
    "SIGUSR1": ["scancel", "--signal=USR1"],
    "SIGTERM": ["scancel", "--signal=TERM"],
    "a limit that is too short": [],
    "another job that comes first": ["sbatch", "--partition=first", "--exclusive", "--wrap=true", "-o/dev/null"],
    "requeued by hand": ["scontrol", "requeue"],
}


def project(folder: Path, steps: int) -> Path:
    """A copy with a question about one run, which is scored and kept in the middle and at the end alone."""
    folder.mkdir()
    copied(folder)
    (folder / "studies" / "own" / "questions" / "long.yaml").write_text(ABLATION)
    path = folder / "config" / "scales" / "smoke" / "char_lm.yaml"
    text = re.sub(r"steps: 6\b", f"steps: {steps}", path.read_text())
    text = re.sub(r"time_limit_s: 120\b", "time_limit_s: 480", text)  # still a short run, and no slow machine ends it
    path.write_text(re.sub(r"(evaluate|checkpoint)_every: 3\b", rf"\1_every: {steps // 2}", text))
    return folder


def snakemake(folder: Path, node: dict[str, str], *words: str) -> subprocess.Popen:
    """The workflow up to the records of the run, through the scheduler."""
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm", *POLLED, *words]
    log = open(folder / "snakemake.log", "w")  # noqa: SIM115
    with log:
        target = ["--until", "train", "--config", *CONFIG, "--", "long"]
        return subprocess.Popen([*command, *target], cwd=folder, env=node, stdout=log, stderr=log)


def jobs(node: dict[str, str], comment: str = "") -> list[dict[str, str]]:
    """What SLURM knows of the jobs whose comment begins so: key -> value."""
    said = subprocess.run(["scontrol", "--oneliner", "show", "job"], env=node, capture_output=True, text=True).stdout
    return [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in said.splitlines() if f"Comment={comment}" in line]


def interrupted(way: str, folder: Path, node: dict[str, str]) -> list[dict[str, str]]:
    """Interrupt a run after its first point of the curve, or by its limit; return its SLURM jobs, once it has ended."""
    words, before = WAYS[way], {job["JobId"] for job in jobs(node)}
    workflow = snakemake(project(folder, 1500 if words else 6000), node, *([] if words else SHORT))
    try:
        if words:
            eventually(lambda: "step" in read_logs(folder), 300)
            (job,) = (job["JobId"] for job in jobs(node, "rule_short") if job["JobId"] not in before)
            subprocess.run([*words, *([] if words[0] == "sbatch" else [job])], env=node, check=True)
        assert workflow.wait(900) == 0, (folder / "snakemake.log").read_text()[-3000:]
    finally:
        workflow.kill()
        workflow.wait()
    return [job for job in jobs(node, "rule_short") if job["JobId"] not in before]


def read_logs(folder: Path) -> str:
    """What runs have said."""
    return "".join(path.read_text() for path in (folder / "logs" / "train").glob("*.log"))


def same_bits(folder: Path, node: dict[str, str]) -> bool:
    """Whether curve, metrics, facts and weights are those of the run in one sitting."""
    (run,) = (path.parent for path in folder.glob("results/runs/*/record.json"))
    again = folder / "again"
    again.mkdir()
    words = [sys.executable, "-m", "workflow.scripts.train", f"{run}/job.json", "--out", again, "--device", "cpu"]
    data = next((folder / "results" / "data").glob("*.npz"))
    subprocess.run([*words, "--data", data], cwd=folder, env=node, check=True, capture_output=True)
    records = [read_record(path / "record.json") for path in (run, again)]
    curves = [[point.model_dump(exclude={"tokens_per_s"}) for point in record.curve] for record in records]
    numbers = [(record.status, record.metrics, record.facts) for record in records]
    weights = [(path / "weights.pt").read_bytes() for path in (run, again)]
    return numbers[0][0] == "ok" and all(one == other for one, other in (curves, numbers, weights))


def main() -> None:
    if absent := missing():
        sys.exit(absent)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that what was started is ended
    with tempfile.TemporaryDirectory(prefix="slurm-") as place, one_node(Path(place)) as node:
        for name in sys.argv[1:] or WAYS:
            with tempfile.TemporaryDirectory() as folder:
                ended = interrupted(name, Path(folder) / "suite", node)
                for job in ended:
                    print(name, *(f"{key}={job[key]}" for key in ("JobState", "ExitCode", "Restarts", "TimeLimit")))
                print(f"  the same bits: {same_bits(Path(folder) / 'suite', node)}", flush=True)


if __name__ == "__main__":
    main()
