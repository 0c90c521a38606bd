"""Small runs for tests: trained to their end, interrupted, compared, or made by the script."""

import sys
from functools import cache
from pathlib import Path

import pytest
import torch

from models.kernels.compiled.build import fix_sums
from tests._jobs import corpus
from workflow.config.job import Job
from workflow.plan import sources
from workflow.results.record import Origin, Record, read_record, write_text
from workflow.scripts import train
from workflow.tasks.char_lm import store
from workflow.tasks.spec import TASKS, load
from workflow.training import checkpoint, loop
from workflow.training.origin import describe
from workflow.training.run import Run

CPU = torch.device("cpu")


@cache
def origin() -> Origin:
    """Describe this machine and moment, for numbers that were made by hand."""
    return Origin(**describe(CPU, "fp32", sources.recorded([])))


def start(job: Job, folder: Path, text=None, source: str = "") -> Run:
    """Make a run at its first step. source: digest of the files that its numbers depend on."""
    fix_sums(job.training.threads)  # as the script does
    return Run(job, load(TASKS[job.task].runner), text or corpus(), folder, CPU, source)


def train_to_end(job: Job, folder: Path, text=None) -> tuple[dict, dict, dict]:
    """Train a run, from a checkpoint in its folder if any; return metrics, facts, weights."""
    run = start(job, folder, text)
    run.resume()
    return finish(run)


def finish(run: Run) -> tuple[dict, dict, dict]:
    """Train and score a run; return its metrics, facts and weights."""
    loop.train(run)
    outcome = train.evaluate(run)
    return outcome.metrics, outcome.facts, run.model.state_dict()


def interrupt(run: Run, step: int) -> None:
    """Train a run and break it off after `step` steps."""

    def check():
        if run.step == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(run, check)


def break_updates(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let every update end in an error."""

    def fail(model, parts):
        raise error

    patch.setattr(loop, "add_gradients", fail)


def assert_same(run, other) -> None:
    """Compare metrics, facts and weights of two runs to the bit."""
    assert run[:2] == other[:2]
    for (name, weight), counterpart in zip(run[2].items(), other[2].values(), strict=True):
        assert torch.equal(weight, counterpart), name


def write_job(job: Job, folder: Path) -> Path:
    """Write the job.json of a run's folder, as the plan does."""
    write_text(folder / "job.json", job.model_dump_json())
    return folder / "job.json"


def train_command(folder: Path, data: Path, *words: str) -> list[str]:
    """Return the command of the run in a folder."""
    job = str(folder / "job.json")
    command = [sys.executable, "-m", "workflow.scripts.train", job, "--data", str(data)]
    return [*command, "--device", "cpu", *words]


def write_weights(job: Job, folder: Path, weights: dict) -> Path:
    """Write what a run leaves for its costs to be measured. weights: {} for a run that failed."""
    write_job(job, folder)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights})
    return folder / "weights.pt"


def run_script(
    job: Job, folder: Path, text=None, write=store.write, backend: str = "auto"
) -> Record:
    """Train a job by its script, in this process; return the record."""
    data = folder.parent / "toy.npz"
    write(data, text or corpus())
    write_job(job, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "limit_memory", lambda budget: None)  # it could not be lifted again
        train.main(train_command(folder, data, "--backend", backend)[3:])
    return read_record(folder / "record.json")
