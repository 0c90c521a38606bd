"""A short training, twice: whether it gives the same bits, here and as the workflow starts it, and how fast it is."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from workflow.config.environment import READY, environment
from workflow.config.files import ROOT
from workflow.config.job import Job
from workflow.doctor.finding import NOTE, OK, WRONG, Finding
from workflow.plan.scales import load_corpora
from workflow.plan.targets import Targets
from workflow.results.precomputed import precomputed
from workflow.results.record import Record, read_record, write_text
from workflow.tasks.spec import TASKS, load
from workflow.training.backends import prepare
from workflow.training.gradients import number_type
from workflow.training.loop import Run

UPDATES, SCORED = 40, 4000  # characters of dev and test
TEXT = "sources"  # embedded, made in seconds


def short(job: Job) -> Job:
    """The same job with few updates, and little that is scored."""
    steps = {"steps": UPDATES, "evaluate_every": UPDATES, "checkpoint_every": UPDATES}
    scored = {"tokens": SCORED, "dev_tokens": SCORED}
    changes = {
        "training": job.training.model_copy(update=steps),
        "evaluation": job.evaluation.model_copy(update=scored),
    }
    return job.model_copy(update=changes)


def pick_job(jobs: dict[str, Job]) -> Job:
    """A language model with a learned span on the embedded text, whose record came with the project."""
    spans = ("adaptive", "fixed")
    found = [job for job in jobs.values() if job.corpus == TEXT and job.attention.span["name"] in spans]
    return next((job for job in found if precomputed(job.digest)), found[0])


def look_at_training(plan: Callable[[], Targets], device: torch.device) -> Iterator[Finding]:
    """plan: what scale laptop would run."""
    job = pick_job(plan().runs.jobs)
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / f"{TEXT}.npz"
        load(TASKS["char_lm"].write_corpus)(load_corpora("char_lm"), TEXT, data, None)
        first, second = (_train(short(job), data, Path(place), device) for _ in range(2))
        yield _same("the same bits", _weights(first), _weights(second), device)
        yield _pace(first, second, job)
        yield _started("the same bits, started", short(job), data, Path(place), device)


def _train(job: Job, data: Path, folder: Path, device: torch.device) -> Run:
    torch.set_num_threads(job.training.threads)
    task = load(TASKS[job.task].runner)
    run = Run(job, task, task.read(data), folder, device)
    run.say = lambda line: None  # its progress is nobody's news here
    prepare(run.net, "auto", device, number_type(job.training, device))
    run.train()
    return run


def _weights(run: Run) -> dict:
    return run.net.state_dict()


def _same(about: str, first: dict, second: dict, device: torch.device) -> Finding:
    """A GPU adds up in an order of its own, which records say (`deterministic`); a CPU must not."""
    if all(torch.equal(tensor, second[name]) for name, tensor in first.items()):
        return Finding(about, OK, f"{UPDATES} updates twice give the same weights to the bit")
    said = f"{UPDATES} updates twice give other weights"
    return Finding(about, WRONG if device.type == "cpu" else NOTE, said)


def _pace(first: Run, second: Run, job: Job) -> Finding:
    """Beside the record that came with the project."""
    speed = max(run.tokens / run.training_seconds for run in (first, second))
    path = precomputed(job.digest)
    record: Record | None = read_record(path) if path else None
    beside = ""
    if record and record.cost:
        beside = f", {speed / record.cost.tokens_per_s:.2f} times the speed of its record ({record.origin.device})"
    return Finding("speed of training", OK, f"{speed:,.0f} characters a second{beside}")


def _started(about: str, job: Job, data: Path, folder: Path, device: torch.device) -> Finding:
    """Two processes side by side, with the settings that the workflow gives them."""
    write_text(folder / "job.json", job.canonical())
    outs = [folder / name for name in "ab"]
    command = (sys.executable, "-m", "workflow.scripts.train", folder / "job.json", "--data", data)
    settings = {**os.environ, **environment(), READY: "no", "PYTHONPATH": str(ROOT)}
    said = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    for out in outs:
        out.mkdir()
    processes = [
        subprocess.Popen((*command, "--device", device.type, "--out", out), env=settings, **said) for out in outs
    ]
    faults = [process.communicate(timeout=300)[1].strip().splitlines() for process in processes]
    if any(process.returncode for process in processes):
        return Finding(about, WRONG, next(lines[-1] for lines in faults if lines))
    for out in outs:
        record = read_record(out / "record.json")
        if record.status != "ok":
            return Finding(about, WRONG, f"{record.status}: {record.reason}")
    weights = [torch.load(out / "weights.pt", weights_only=True)["net"] for out in outs]
    return _same(about, *weights, device)
