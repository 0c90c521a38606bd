"""Train and evaluate one job: `python -m workflow.scripts.train JOB --data FILE [--device auto]
[--backend auto]`.

JOB is a job.json. record.json, curve.csv and weights.pt are written beside it. Whatever happens
inside the run becomes a record; bad input and what the machine refuses (a full disk) end with an
error.

A job with trials also needs --choice FILE, which says which of them it follows. Where a run with
the settings that come of it is there already, its numbers are taken, for they would be the same to
the bit.

The command trains in a fork, or in one for each of several devices, and waits: of a process that
crashes it writes the record. On several machines `torchrun` starts them all: `torchrun --nnodes 8
--nproc-per-node 8 -m workflow.scripts.train JOB --data FILE`.
"""

import argparse
import faulthandler
import math
import sys
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, SupportsFloat

import torch
from psutil import virtual_memory
from pydantic_core import PydanticSerializationError

from models.kernels.compiled.build import fix_sums
from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.files import CannotWrite, end_future
from workflow.config.job import Job
from workflow.config.missing import Missing
from workflow.config.strict import parse
from workflow.plan import sources
from workflow.results.record import Cost, Macs, Point, Record, curve_text, write_record, write_text
from workflow.results.registry import REGISTRY, check_registered, names
from workflow.results.trials import equal_run, read_choice
from workflow.tasks.spec import TASKS, load, read_job
from workflow.training import checkpoint
from workflow.training.backends import bits, chosen, prepare
from workflow.training.devices import ALONE, Devices, join_devices, launched
from workflow.training.evaluation import Evaluation
from workflow.training.guard import Ended, attempt, end_badly, limit_memory, stopped_by_signals
from workflow.training.hardware import peak_bytes
from workflow.training.loop import ASKED, Run
from workflow.training.origin import describe, pick_device
from workflow.training.processes import in_processes
from workflow.training.rehearsal import rehearse
from workflow.training.update import number_type


def write(
    job: Job,
    folder: Path,
    origin: dict,
    *,
    net: dict | None = None,
    log: list[str] = (),
    again: bool = False,
    **told,
) -> None:
    """Write weights, curve and record, in this order: where the record is, all else is.

    net: its weights, none where its training failed. origin, told: keys of the record. again:
    whether a score failed. The checkpoint of a trained run stays until all its scores are there:
    begun again, it only scores.
    """
    weights = net or {}
    told |= {"log": log[-20:], "weights": checkpoint.digest_of(weights)}
    record = Record(digest=job.digest, job=job, origin=origin, **told)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights})
    write_text(folder / "curve.csv", curve_text(record))
    write_record(folder / "record.json", record)
    if not net or (record.status == "ok" and not again):
        (folder / "checkpoint.pt").unlink(missing_ok=True)


def train(
    asked: Job,
    data: Path,
    folder: Path,
    device: torch.device,
    backend: str = "auto",
    devices: Devices = ALONE,
    follows: str | None = None,
) -> None:
    """Build, load, train, evaluate, write. `end_badly` says what becomes of a run that fails.

    follows: the digest of the trial whose settings it gets, where the job that was asked for has
    trials.
    """
    job = asked.following(follows)
    task = load_task(job.task)
    corpus = task.read(data)
    if corpus.checksum != job.checksum:
        raise ConfigError(
            f"{data}: corpus checksum {corpus.checksum}, the job expects {job.checksum}"
        )
    fix_sums(job.training.threads)
    origin = describe_limited(job, device, devices)
    keep = partial(write, asked, folder, origin, follows=follows)
    trained = None
    try:
        trained = Run(job, task, corpus, folder, device, origin["source"], devices)
        check_rehearsal(trained, origin)  # before hours are spent
        prepare(trained.net, backend, device, number_type(job.training.precision, device))
        trained.resume()
        with stopped_by_signals(trained.save) as check:
            trained.train(check)
        if devices.first:
            far = bits(trained.net, device, number_type(job.training.precision, device))
            told = {
                "curve": trained.curve,
                "log": trained.log,
                "losses": trained.losses,
                "bits": far,
            }
            told |= evaluate(trained)
            keep(
                status="ok", net=trained.net.state_dict(), again=bool(trained.task.missing), **told
            )
    except (ConfigError, CannotWrite):  # they say nothing about the run
        raise
    except Exception as error:
        end_badly(error, trained, keep, devices)


def load_task(name: str) -> type:
    """Import the class that computes a task; `ConfigError` where it lacks what the loop asks
    for.
    """
    spec = TASKS[name]
    runner = load(spec.runner)
    if lacking := [each for each in ASKED if not hasattr(runner, each)]:
        raise ConfigError(
            f"{spec.runner}: '{lacking[0]}' is missing; the training loop needs {', '.join(ASKED)}"
        )
    if runner.unit != spec.curve[0]:
        raise ConfigError(
            f"{spec.runner}: unit = {shown(runner.unit)}, but the task's curve is in '{spec.curve[0]}'"
        )
    return runner


def check_rehearsal(run: Run, origin: dict) -> None:
    """Refuse, before the first update, what the run's record could not hold after the last.

    `ConfigError` for a column of the curve, a score or a fact that no task names, or that is not of
    its kind.
    """
    runner = TASKS[run.job.task].runner
    choices = {type(choice): choice for layer in run.net.attentions for choice in layer.choices}
    for kind, choice in choices.items():
        check_registered("fact", kind.__module__, deepcopy(choice).facts())
    sample = rehearse(run)
    point, metrics, facts = sample.point, sample.metrics, sample.facts
    for name in point:
        check_known(f"column of the learning curve of {runner}", name, Point.model_fields)
    check_registered("metric", runner, metrics)
    check_registered("fact", runner, facts)
    for name, score in metrics.items():
        if not isinstance(score, Missing | SupportsFloat | None):
            raise ConfigError(
                f"{runner}: score '{name}' must be a number or `Missing(reason)`, got {shown(score)}"
            )
    for name, value in facts.items():
        if REGISTRY[name].number and not isinstance(value, int | float | None):
            raise ConfigError(f"{runner}: fact '{name}' must be a number, got {shown(value)}")
    told = {"digest": run.job.digest, "job": run.job, "origin": origin, "status": "ok"}
    told |= {"curve": [point], "metrics": numbers_of(metrics)[0], "facts": facts}
    try:
        parse(Record, told, runner).model_dump_json()
    except PydanticSerializationError as error:
        raise ConfigError(f"{runner}: a fact that JSON cannot store: {error}") from None


def describe_limited(job: Job, device: torch.device, devices: Devices) -> dict:
    """Describe where a run is trained; on a CPU its memory is limited first, so that the rest of
    the machine lives.
    """
    origin = describe(
        device, job.training.precision, sources.recorded(sources.of_run(job)), devices.count
    )
    if device.type == "cpu":
        share = 0.9 / devices.count
        attempt(
            origin["missing"],
            ["limit of memory"],
            lambda: limit_memory(int(share * virtual_memory().available)),
        )
    return origin


def evaluate(trained: Run) -> dict:
    """Return the scores on dev and test, facts, what the run cost, and why a score or fact is
    missing.
    """
    task = trained.task
    known = [quantity.name for quantity in TASKS[trained.job.task].quantities]
    found = attempt(
        task.missing, known, lambda: task.evaluate(trained.net), Evaluation({}, {}, None)
    )
    backends = chosen(trained.net)
    print("\n".join(backends), flush=True)
    train_score = f"train_{task.unit}"
    had = (
        {train_score: trained.curve[-1][train_score], **found.metrics},
        {**found.facts, "start_span": trained.start_span},
    )
    metrics, facts = (
        {name: value for name, value in each.items() if value is not None} for each in had
    )
    for kind, each in (("metric", metrics), ("fact", facts)):  # one that a rehearsal did not give
        for name in each.keys() - {*names(kind)}:
            del each[name]
            task.missing[name] = (
                f"none of the `quantities` of task {trained.job.task} has this name"
            )
    metrics, missing = numbers_of(metrics)
    cost = Cost(
        seconds=trained.seconds,
        tokens_per_s=trained.tokens / trained.training_seconds,
        peak_memory_bytes=peak_bytes(trained.device),
        parameters=sum(parameter.numel() for parameter in trained.net.parameters()),
        macs=found.macs and Macs(**asdict(found.macs)),
        backends=backends,
    )
    missing |= {
        name: reason for name, reason in task.missing.items() if name not in {*metrics, *facts}
    }
    return {"metrics": metrics, "facts": facts, "cost": cost, "missing": missing}


def numbers_of(scores: dict[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
    """Part scores that are numbers from the reasons that stand in place of the others."""
    numbers = {
        name: number for name, score in scores.items() if math.isfinite(number := _number(score))
    }
    others = {name: score for name, score in scores.items() if name not in numbers}
    return numbers, {
        name: each.reason if isinstance(each, Missing) else f"{each} is not a finite number"
        for name, each in others.items()
    }


def _number(score: Any) -> float:
    """Convert a score, of Python, NumPy or torch; NaN for what is none."""
    try:
        return math.nan if isinstance(score, Missing) else float(score)
    except (TypeError, ValueError, RuntimeError):
        return math.nan


def take(same: Record, job: Job, folder: Path, follows: str) -> None:
    """Write what a run with the same settings found, as found by this job; its net is not
    measured.
    """
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": {}})
    write_text(folder / "curve.csv", curve_text(same))
    write_record(
        folder / "record.json",
        same.model_copy(update={"digest": job.digest, "job": job, "follows": follows}),
    )


def read_options(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="train", description="Train and evaluate one job.")
    parser.add_argument("job", type=Path, help="the path of a job.json")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--choice", type=Path, help="the file with the chosen trial, for a job with trials"
    )
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument(
        "--devices",
        type=at_least(1),
        help="how many devices share the run; default: as the job says",
    )
    parser.add_argument("--backend", default="auto", choices=backend_names())
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Train in this process, alone or as one of several that share the run."""
    options = read_options(argv)
    job, device = read_job(options.job), pick_device(options.device)
    follows = read_choice(options.choice, job)
    with join_devices(device) as devices:
        train(job, options.data, options.job.parent, device, options.backend, devices, follows)


def start() -> None:
    """Train in other processes and wait for them; where one crashes, write the record, with what
    was saved.
    """
    options = read_options(None)
    asked, folder = read_job(options.job), options.job.parent
    follows = read_choice(options.choice, asked)
    job = asked.following(follows)
    if follows and (same := equal_run(job, folder.parent, sources.digest(sources.of_run(job)))):
        return take(same, asked, folder, follows)
    count = options.devices or job.training.devices
    read = [path for path in (options.job, options.data, options.choice) if path]
    try:
        in_processes(count, main)
    except Ended as ended:
        code = sources.recorded(sources.of_run(job))
        origin = describe(pick_device(options.device), job.training.precision, code, count)
        told = checkpoint.load_story(folder / "checkpoint.pt", job, origin["source"])
        write(
            asked, folder, origin, status=ended.status, reason=ended.reason, follows=follows, **told
        )
    finally:  # of a clock that was set back meanwhile: what was read may not be newer than what was found
        end_future(read)


if __name__ == "__main__":
    if log := sys.__stderr__ or sys.__stdout__:
        faulthandler.enable(log)  # a crash says where
    run(main if launched() else start)
