"""Train and evaluate one job: `python -m workflow.scripts.train JOB --data FILE`.

JOB is a job.json. record.json, curve.csv and weights.pt are written next to it. Whatever happens
inside the run becomes a record; bad input and what the machine refuses (a full disk) end with an
error.

This file composes a run of what these modules do, in this order; none calls one before it:

    tasks/spec.py            read the job, load the class that computes its task
    training/processes.py    start a process for each device
    training/run.py          build the model, the optimiser and the task; rehearse
    tasks/NAME/runner.py     read the corpus, give the losses, score dev and test
    training/backends.py     choose the code that computes attention, and check it
    training/checkpoint.py   go on where an earlier process stopped
    training/loop.py         train: forward, loss, backward, step
    training/optimisers.py   clip and update
    training/failures.py     end a run at its limits, and say why
    results/outcome.py       check what the run came to against what a record can hold
    results/record.py        write it

A job with trials also needs --choice FILE, which says which of them it follows. Where a run with
the settings that come of it exists already, its numbers are taken, for they would be the same to
the bit.

The command trains in a fork, or in one for each of several devices, and waits: of a process that
crashes it writes the record. On several machines `torchrun` starts them all: `torchrun --nnodes 8
--nproc-per-node 8 -m workflow.scripts.train JOB --data FILE`.
"""

import faulthandler
import sys
import traceback
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from psutil import virtual_memory

from models.kernels.compiled.build import fix_sums
from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.config.files import CannotWrite, end_future
from workflow.config.job import Job
from workflow.plan import sources
from workflow.results.outcome import Outcome, check_sample, macs_of, sift
from workflow.results.record import Cost, Origin, Record, curve_text, write_record, write_text
from workflow.results.registry import check_registered
from workflow.results.trials import equal_run, read_choice
from workflow.tasks.spec import TASKS, load, read_job
from workflow.training import checkpoint, graphs
from workflow.training.backends import bits, chosen, prepare
from workflow.training.evaluation import Evaluation, Story
from workflow.training.failures import Ended, Failure, attempt, failure
from workflow.training.hardware import (
    keep_freed_memory,
    limit_memory,
    number_type,
    peak_bytes,
    pick_device,
)
from workflow.training.loop import train as train_loop
from workflow.training.origin import describe
from workflow.training.processes import (
    AGAIN,
    ALONE,
    Devices,
    Interrupted,
    in_processes,
    join_devices,
    launched,
    noting_signals,
)
from workflow.training.run import ASKED, Run, Task

MEMORY_SHARE = 0.9  # of the host's free memory that a run on a CPU may take


def train(
    asked: Job,
    data: Path,
    folder: Path,
    device: torch.device,
    backend: str = "auto",
    devices: Devices = ALONE,
    follows: str | None = None,
) -> None:
    """Build, load, train, evaluate, write.

    follows: the digest of the trial whose settings it gets, where the job that was asked for has
    trials. `ConfigError` for what does not fit the job, `CannotWrite` for a full disk; any other
    error becomes a record, or, of one of several processes, `Ended`.
    """
    job = asked.following(follows)
    task = load_task(job.task)
    corpus = task.read(data)
    if corpus.checksum != job.checksum:
        found = f"corpus checksum {corpus.checksum}"
        raise ConfigError(f"{data}: {found}, the job expects {job.checksum}")
    fix_sums(job.training.threads)
    origin = describe_limited(job, device, devices)
    dtype = number_type(job.training.precision, device)
    run = None
    try:
        run = Run(job, task, corpus, folder, device, origin.source, devices)
        check_rehearsal(run, origin)  # before hours are spent
        prepare(run.model, backend, device, dtype)
        if not graphs.obstacle(run):
            run.forward = graphs.Graphs(run)
        run.resume()
        train_or_save(run)
        if devices.first:
            outcome = replace(evaluate(run), bits=bits(run.model, device, dtype))
            write(outcome, asked, folder, origin, follows)
    except (ConfigError, CannotWrite):  # they say nothing about the run
        raise
    except Exception as error:
        found = explain(error, run, devices)
        if devices.first:
            print(f"{found.status}: {found.reason}", flush=True)
            story = run.story if run else Story()
            story = replace(story, log=story.log + traceback.format_exc().splitlines())
            write(Outcome(found.status, story, found.reason), asked, folder, origin, follows)


def load_task(name: str) -> type[Task]:
    """Import the class that computes a task; `ConfigError` where it lacks what a run asks for."""
    dotted = TASKS[name].runner
    runner = load(dotted)
    lacking = [each for each in ASKED if not hasattr(runner, each)]
    if lacking:
        needed = f"the training loop needs {', '.join(ASKED)}"
        raise ConfigError(f"{dotted}: '{lacking[0]}' is missing; {needed}")
    return runner


def describe_limited(job: Job, device: torch.device, devices: Devices) -> Origin:
    """Describe where a run is trained.

    On a CPU its memory is limited first, so that the rest of the machine lives.
    """
    code = sources.recorded(sources.of_run(job))
    origin = Origin(**describe(device, job.training.precision, code, devices.count))
    if device.type == "cpu":
        with attempt(origin.missing, ["limit of memory"]):
            free = virtual_memory().available
            limit_memory(int(MEMORY_SHARE / devices.count * free))
    return origin


def check_rehearsal(run: Run, origin: Origin) -> None:
    """Refuse, before the first update, what the run's record could not hold after the last."""
    choices = {type(choice): choice for layer in run.model.attentions for choice in layer.choices}
    for kind, choice in choices.items():
        check_registered("fact", kind.__module__, deepcopy(choice).facts())
    sample = run.rehearse()
    spec = TASKS[run.job.task]
    for column in spec.curve.losses:
        if column not in sample.point:
            raise ConfigError(f"{spec.runner}: the learning curve has no column '{column}'")
    check_sample(run.job, origin, sample)


def train_or_save(run: Run) -> None:
    """Train to the end; told to stop, save the run and exit with status `AGAIN`.

    Begun again, it ends with the numbers of a run that was never interrupted.
    """
    with noting_signals() as check:
        try:
            train_loop(run, check)
        except Interrupted as interrupted:
            run.save()
            hint = "start it again to resume from the checkpoint"
            print(f"{interrupted}: stopped; {hint}", flush=True)
            raise SystemExit(AGAIN) from None


def evaluate(run: Run) -> Outcome:
    """Score a trained run on dev and test, and add up what it cost."""
    task = run.task
    spec = TASKS[run.job.task]
    scored = Evaluation(metrics={}, facts={})
    with attempt(task.missing, spec.known):
        scored = task.evaluate(run.model)
    backends = graphs.notes(run) + chosen(run.model)
    print("\n".join(backends), flush=True)
    train_loss, _ = spec.curve.losses
    scored = replace(
        scored,
        metrics={train_loss: run.curve[-1][train_loss], **scored.metrics},
        facts={**scored.facts, "start_span": run.start_span},
    )
    found = sift(scored, task.missing, run.job.task)
    cost = Cost(
        seconds=run.seconds,
        tokens_per_s=run.tokens / run.training_seconds,
        peak_memory_bytes=peak_bytes(run.device),
        parameters=sum(parameter.numel() for parameter in run.parameters),
        macs=macs_of(scored.macs),
        backends=backends,
    )
    return Outcome(
        status="ok",
        story=run.story,
        metrics=found.metrics,
        over_condition=scored.over_condition,
        facts=found.facts,
        missing=found.missing,
        cost=cost,
        can_be_scored_again=found.has_failed,
    )


def explain(error: Exception, run: Run | None, devices: Devices) -> Failure:
    """Say how a run ended that an error ended. run: None where it was not yet built.

    The error of one of several processes is raised as `Ended`, for the others wait for that
    process; only a loss that diverged and a time limit end all of them at the same step.
    """
    found = failure(error)
    if run and found.status == "error" and not run.is_finite:
        reason = f"non-finite parameters at step {run.step}: {found.reason}"
        found = Failure("diverged", reason)
    if devices.count > 1 and found.status not in ("diverged", "timeout"):
        raise Ended(found.status, found.reason) from error
    return found


def write(
    outcome: Outcome, job: Job, folder: Path, origin: Origin, follows: str | None = None
) -> None:
    """Write weights, curve and record, in this order: where the record is, all else is.

    The checkpoint of a trained run stays until all its scores are there: begun again, it only
    scores.
    """
    weights = outcome.story.weights
    record = outcome.record(job, origin, checkpoint.digest_of(weights), follows)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights})
    write_text(folder / "curve.csv", curve_text(record))
    write_record(folder / "record.json", record)
    is_complete = record.status == "ok" and not outcome.can_be_scored_again
    if not weights or is_complete:
        (folder / "checkpoint.pt").unlink(missing_ok=True)


def take(same: Record, job: Job, folder: Path, follows: str) -> None:
    """Write what a run with the same settings found; its model is not measured."""
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": {}})
    write_text(folder / "curve.csv", curve_text(same))
    changes = {"digest": job.digest, "job": job, "follows": follows}
    write_record(folder / "record.json", same.model_copy(update=changes))


@dataclass(frozen=True)
class Request:
    """What a command line asks for.

    job: as it was asked for, in `folder`. follows: see `train`. count: how many devices share the
    run. The device is named, not picked: a process that starts others may not have asked for a GPU.
    """

    path: Path
    job: Job
    data: Path
    choice: Path | None
    follows: str | None
    device: str
    count: int
    backend: str

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def trained(self) -> Job:
        """Return the job with the settings of the trial that it follows."""
        return self.job.following(self.follows)


def read_request(argv: list[str] | None) -> Request:
    parser = Parser(prog="train", description="Train and evaluate one job.")
    parser.add_argument("job", type=Path, help="the path of a job.json")
    parser.add_argument("--data", type=Path, required=True)
    choice = "the file with the chosen trial, for a job with trials"
    parser.add_argument("--choice", type=Path, help=choice)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    count = "how many devices share the run; default: as the job says"
    parser.add_argument("--devices", type=at_least(1), help=count)
    parser.add_argument("--backend", default="auto", choices=backend_names())
    options = parser.parse_args(argv)
    job = read_job(options.job)
    return Request(
        path=options.job,
        job=job,
        data=options.data,
        choice=options.choice,
        follows=read_choice(options.choice, job),
        device=options.device,
        count=options.devices or job.training.devices,
        backend=options.backend,
    )


def train_share(request: Request) -> None:
    """Train in this process, alone or as one of several that share the run."""
    keep_freed_memory()
    device = pick_device(request.device)
    with join_devices(device) as devices:
        train(
            request.job,
            request.data,
            request.folder,
            device,
            request.backend,
            devices,
            request.follows,
        )


def train_in_processes(request: Request) -> None:
    """Train in other processes and wait; write the record of one that crashes."""
    folder = request.folder
    job = request.trained
    if request.follows:
        same = equal_run(job, folder.parent, sources.digest(sources.of_run(job)))
        if same:
            return take(same, request.job, folder, request.follows)
    read = [path for path in (request.path, request.data, request.choice) if path]
    try:
        in_processes(request.count, partial(train_share, request))
    except Ended as ended:
        code = sources.recorded(sources.of_run(job))
        device = pick_device(request.device)
        origin = Origin(**describe(device, job.training.precision, code, request.count))
        story = checkpoint.load_story(folder / "checkpoint.pt", job, origin.source)
        outcome = Outcome(ended.failure.status, story, ended.failure.reason)
        write(outcome, request.job, folder, origin, request.follows)
    finally:
        # of a clock that was set back meanwhile: what was read may not be newer than what was found
        end_future(read)


def main(argv: list[str] | None = None) -> None:
    """Train in this process, alone or as one that torchrun started."""
    train_share(read_request(argv))


def start() -> None:
    """Train in processes of its own."""
    train_in_processes(read_request(None))


if __name__ == "__main__":
    log = sys.__stderr__ or sys.__stdout__
    if log:
        faulthandler.enable(log)  # a crash says where
    run(main if launched() else start)
