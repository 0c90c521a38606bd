"""Train and evaluate one job: `python -m workflow.scripts.train JOB --data FILE [--device auto] [--backend auto]`.

JOB is a job.json. record.json, curve.csv and weights.pt are written beside it, or into --out. Whatever happens inside
the run becomes a record; bad input and what the machine refuses (a full disk) end with an error.

The command trains in a fork, or in one process for each of several devices, and waits: of a process that crashes it
writes the record. On several machines `torchrun` starts them all: `torchrun --nnodes 8 --nproc-per-node 8 -m
workflow.scripts.train JOB --data FILE`.
"""

import argparse
import faulthandler
import sys
import time
import traceback
from pathlib import Path

import psutil
import torch

from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.config.files import CannotWrite
from workflow.config.job import Job, read_job
from workflow.costs.memory import peak_bytes
from workflow.plan import sources
from workflow.results.record import Cost, Record, curve_text, write_record, write_text
from workflow.results.registry import check_registered
from workflow.tasks.spec import TASKS, load
from workflow.training import checkpoint
from workflow.training.backends import chosen, prepare
from workflow.training.devices import ALONE, Devices, join_devices, launched
from workflow.training.gradients import number_type
from workflow.training.guard import AGREED, limit_memory, status_of, time_limit
from workflow.training.interruption import stopped_by_signals
from workflow.training.loop import Run
from workflow.training.origin import describe, pick_device
from workflow.training.processes import Broken, fork, launch, refuse_too_many, told_to_launcher

MODULE = "workflow.scripts.train"


def train(
    job: Job, data: Path, folder: Path, device: torch.device, backend: str = "auto", devices: Devices = ALONE
) -> Record:
    """Train, evaluate, keep the weights that were scored. A run that fails gives a record with the reason.

    Where one of several devices fails alone, its error ends its process, and so the run.
    """
    task = load(TASKS[job.task].runner)
    corpus = task.read(data)
    if corpus.checksum != job.checksum:
        raise ConfigError(f"{data}: corpus checksum {corpus.checksum}, the job was made for {job.checksum}")
    torch.set_num_threads(job.training.threads)
    if device.type == "cpu":
        limit_memory(int(0.9 * psutil.virtual_memory().available / devices.count))
    origin = describe(device, job.training.precision, sources.recorded(sources.of_run(job)), devices.count)
    identity = {"digest": job.digest, "job": job, "origin": origin}
    began, attempt, weights = time.perf_counter(), None, {}
    try:
        attempt = Run(job, task, corpus, folder, device, origin.source, devices)
        check_registered("fact", attempt.net.facts())  # before hours are spent
        prepare(attempt.net, backend, device, number_type(job.training, device))
        scores = go_on(attempt)
        record = Record(status="ok", curve=attempt.curve, log=attempt.log[-20:], **identity, **scores)
        weights = attempt.net.state_dict()
    except (Exception, MemoryError) as raised:
        error = attempt.cause(raised) if attempt else raised
        if isinstance(error, ConfigError | CannotWrite) or (devices.count > 1 and not isinstance(error, AGREED)):
            raise
        log = (attempt.log if attempt else []) + traceback.format_exc().splitlines()
        reason = f"{type(error).__name__}: {error}".strip()[:500]
        if devices.first:
            print(f"{status_of(error)} after {time.perf_counter() - began:.0f} s: {reason}", flush=True)
        curve = attempt.curve if attempt else []
        record = Record(status=status_of(error), reason=reason, curve=curve, log=log[-20:], **identity)
    if devices.first:
        checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights})
    return record


def go_on(attempt: Run) -> dict:
    """From the checkpoint to the scores, in the time that is left; a signal may end the process in between."""
    attempt.resume()
    with stopped_by_signals() as stop, time_limit(attempt.job.training.time_limit_s - attempt.seconds) as deadline:
        with stop.between_updates(attempt.save):
            attempt.train(lambda: (stop.check(), deadline.check()))
        return evaluate(attempt) if attempt.devices.first else {}


def evaluate(attempt: Run) -> dict:
    """Scores on dev and test, facts, and what the run cost."""
    metrics, facts, macs = attempt.task.evaluate(attempt.net)
    backends = chosen(attempt.net)
    print("\n".join(backends), flush=True)
    train_score = f"train_{attempt.task.unit}"
    metrics = {train_score: attempt.curve[-1][train_score], **metrics}
    facts |= {"start_span": attempt.start_span} if attempt.start_span is not None else {}
    check_registered("metric", metrics)
    check_registered("fact", facts)
    cost = Cost(
        seconds=attempt.seconds,
        tokens_per_s=attempt.tokens / attempt.training_seconds,
        peak_memory_bytes=peak_bytes(attempt.device),
        parameters=sum(parameter.numel() for parameter in attempt.net.parameters()),
        macs=macs,
        backends=backends,
    )
    return {"metrics": metrics, "facts": facts, "cost": cost}


def write(record: Record, folder: Path) -> None:
    """The record last: where it is, all else is. A run that has ended needs no checkpoint."""
    write_text(folder / "curve.csv", curve_text(record))
    write_record(folder / "record.json", record)
    (folder / "checkpoint.pt").unlink(missing_ok=True)


def write_broken(broken: Broken, job: Job, folder: Path, device: torch.device, count: int) -> None:
    """The record of a run whose process ended before it, with what its checkpoint tells."""
    code = sources.recorded(sources.of_run(job))
    origin = describe(device, job.training.precision, code, count)
    told = checkpoint.load_story(folder / "checkpoint.pt", job.digest)
    record = Record(status=broken.status, reason=str(broken), digest=job.digest, job=job, origin=origin, **told)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": {}})
    write(record, folder)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="train", description="Train and evaluate one job.")
    parser.add_argument("job", type=Path, help="the path of a job.json")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="the folder to write to; the job's own where it is left out")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--devices", type=at_least(1), help="how many share the run; left out: as the job says")
    parser.add_argument("--backend", default="auto", choices=backend_names())
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Train in this process, alone or as one of several that share the run."""
    options = read_options(argv)
    job, folder, device = read_job(options.job), options.out or options.job.parent, pick_device(options.device)
    if not launched():
        write(train(job, options.data, folder, device, options.backend), folder)
        return
    with told_to_launcher(), join_devices(device) as devices:
        record = train(job, options.data, folder, device, options.backend, devices)
        if devices.first:
            write(record, folder)


def start() -> None:
    """Train in other processes and wait for them; where one breaks, write the record."""
    options = read_options(None)
    job, folder = read_job(options.job), options.out or options.job.parent
    count = options.devices or job.training.devices
    try:
        if count == 1:
            fork(lambda: run(main))
        else:
            refuse_too_many(count, pick_device(options.device))
            launch(count, MODULE, sys.argv[1:])
    except Broken as broken:
        write_broken(broken, job, folder, pick_device(options.device), count)


if __name__ == "__main__":
    faulthandler.enable(sys.__stderr__)  # a crash says where in the log
    run(main if launched() else start)
