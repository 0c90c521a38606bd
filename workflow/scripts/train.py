"""Train and evaluate one job: `python -m workflow.scripts.train JOB FOLDER --data FILE [--device auto] [--anew]`.

JOB is the job's JSON or the path of a job.json. Writes job.json, record.json, curve.csv and weights.pt into FOLDER.
Whatever happens inside the run becomes a record; only bad input ends with an error.
"""

import argparse
import csv
import io
import time
import traceback
from pathlib import Path

import psutil
import torch

from workflow.cli._main import run
from workflow.config.environment import BACKENDS
from workflow.config.errors import ConfigError
from workflow.config.job import Job, read_job
from workflow.costs.lease import lease
from workflow.costs.memory import peak_bytes
from workflow.results.record import Cost, Point, Record, published, read_record, write_record, write_text
from workflow.tasks import TASKS
from workflow.training import checkpoint
from workflow.training.backends import chosen, prepare
from workflow.training.loop import Run
from workflow.training.origin import describe, pick_device
from workflow.training.watchdog import limit_memory, status_of, time_limit


def fulfil(job: Job, data: Path, folder: Path, device: torch.device, backend: str = "auto") -> Record:
    """Train, evaluate, keep the weights that were scored; a run that breaks gives its record with the reason."""
    corpus = TASKS[job.task].read(data)
    if corpus.checksum != job.checksum:
        raise ConfigError(f"{data}: corpus checksum {corpus.checksum}, the job was made for {job.checksum}")
    torch.set_num_threads(job.training.threads)
    if device.type == "cpu":
        limit_memory(int(0.9 * psutil.virtual_memory().available))
    origin = describe(device, job.training.precision)
    made = {"digest": job.digest, "job": job, "origin": origin}
    began, attempt = time.perf_counter(), None
    try:
        attempt = Run(job, corpus, folder, device)
        half = job.training.precision == "bf16" and device.type == "cuda"
        prepare(attempt.net, backend, device, torch.bfloat16 if half else torch.float32)
        attempt.resume()
        with time_limit(job.training.time_limit_s - attempt.seconds) as deadline:
            attempt.train(deadline.check)
            made |= finish(attempt)
        checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": attempt.net.state_dict()})
        return Record(status="ok", curve=attempt.curve, log=attempt.log[-20:], **made)
    except (Exception, MemoryError) as error:
        if isinstance(error, ConfigError):
            raise
        log = (attempt.log if attempt else []) + traceback.format_exc().splitlines()
        reason = f"{type(error).__name__}: {error}".strip()[:500]
        print(f"{status_of(error)} after {time.perf_counter() - began:.0f} s: {reason}", flush=True)
        curve = attempt.curve if attempt else []
        return Record(status=status_of(error), reason=reason, curve=curve, log=log[-20:], **made)


def finish(attempt: Run) -> dict:
    """Scores on dev and test, facts, and what the run cost."""
    metrics, facts, macs = attempt.task.evaluate_run(attempt.net)
    for line in chosen(attempt.net):
        print(line, flush=True)
    train = f"train_{attempt.task.unit}"
    cost = Cost(
        seconds=attempt.seconds,
        tokens_per_s=attempt.tokens / attempt.training_seconds,
        peak_memory_bytes=peak_bytes(attempt.device),
        parameters=sum(parameter.numel() for parameter in attempt.net.parameters()),
        macs=macs,
        engine=chosen(attempt.net),
    )
    return {"metrics": {train: attempt.curve[-1][train], **metrics}, "facts": facts, "cost": cost}


def curve_of(record: Record) -> str:
    """The learning curve as CSV."""
    with io.StringIO(newline="") as text:
        rows = csv.DictWriter(text, Point.model_fields, lineterminator="\n")
        rows.writeheader()
        rows.writerows(point.model_dump() for point in record.curve)
        return text.getvalue()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="train", description="Train and evaluate one job.")
    parser.add_argument("job", help="the job as JSON, or the path of a job.json")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--backend", default="auto", choices=BACKENDS)
    parser.add_argument("--anew", action="store_true", help="train even where a record came with the project")
    options = parser.parse_args(argv)
    job, folder = read_job(options.job), options.folder
    found = None if options.anew else published(job.digest)
    if found:
        record = read_record(found)
        if record.job != job:
            raise ConfigError(f"{found}: the record of another job; delete it")
        print(f"record of job {job.digest} came with the project: {found.parent.name}")
    else:
        device = pick_device(options.device)
        with lease(device, alone=False):
            record = fulfil(job, options.data, folder, device, options.backend)
    write_text(folder / "job.json", job.model_dump_json(indent=1) + "\n")
    write_text(folder / "curve.csv", curve_of(record))
    write_record(folder / "record.json", record)
    (folder / "checkpoint.pt").unlink(missing_ok=True)


if __name__ == "__main__":
    run(main)
