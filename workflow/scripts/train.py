"""Train and evaluate one job: `python -m workflow.scripts.train JOB --data FILE [--device auto] [--backend auto]`.

JOB is a job.json. record.json, curve.csv and weights.pt are written beside it, or into --out. Whatever happens inside
the run becomes a record; only bad input ends with an error.
"""

import argparse
import time
import traceback
from pathlib import Path

import psutil
import torch

from workflow.config.command_line import run
from workflow.config.environment import BACKENDS
from workflow.config.errors import ConfigError
from workflow.config.job import Job, read_job
from workflow.costs.lease import lease
from workflow.costs.memory import peak_bytes
from workflow.plan import sources
from workflow.results.record import Cost, Record, curve_text, write_record, write_text
from workflow.results.registry import check_registered
from workflow.tasks.spec import TASKS, load
from workflow.training import checkpoint
from workflow.training.backends import chosen, prepare
from workflow.training.loop import Run
from workflow.training.origin import describe, pick_device
from workflow.training.watchdog import limit_memory, status_of, time_limit


def train(job: Job, data: Path, folder: Path, device: torch.device, backend: str = "auto") -> Record:
    """Train, evaluate, keep the weights that were scored. A run that fails gives a record with the reason."""
    task = load(TASKS[job.task].runner)
    corpus = task.read(data)
    if corpus.checksum != job.checksum:
        raise ConfigError(f"{data}: corpus checksum {corpus.checksum}, the job was made for {job.checksum}")
    torch.set_num_threads(job.training.threads)
    if device.type == "cpu":
        limit_memory(int(0.9 * psutil.virtual_memory().available))
    origin = describe(device, job.training.precision, sources.recorded(sources.of_run(job)))
    identity = {"digest": job.digest, "job": job, "origin": origin}
    began, attempt, weights = time.perf_counter(), None, {}
    try:
        attempt = Run(job, task, corpus, folder, device, source=origin.source)
        check_registered("fact", attempt.net.facts())  # before hours are spent
        half = job.training.precision == "bf16" and device.type == "cuda"
        prepare(attempt.net, backend, device, torch.bfloat16 if half else torch.float32)
        attempt.resume()
        with time_limit(job.training.time_limit_s - attempt.seconds) as deadline:
            attempt.train(deadline.check)
            scores = evaluate(attempt)
        record = Record(status="ok", curve=attempt.curve, log=attempt.log[-20:], **identity, **scores)
        weights = attempt.net.state_dict()
    except (Exception, MemoryError) as error:
        if isinstance(error, ConfigError):
            raise
        log = (attempt.log if attempt else []) + traceback.format_exc().splitlines()
        reason = f"{type(error).__name__}: {error}".strip()[:500]
        print(f"{status_of(error)} after {time.perf_counter() - began:.0f} s: {reason}", flush=True)
        curve = attempt.curve if attempt else []
        record = Record(status=status_of(error), reason=reason, curve=curve, log=log[-20:], **identity)
    checkpoint.save(folder / "weights.pt", {"digest": job.digest, "net": weights})
    return record


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


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="train", description="Train and evaluate one job.")
    parser.add_argument("job", type=Path, help="the path of a job.json")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="the folder to write to; the job's own where it is left out")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--backend", default="auto", choices=BACKENDS)
    options = parser.parse_args(argv)
    job, folder = read_job(options.job), options.out or options.job.parent
    device = pick_device(options.device)
    with lease(device, alone=False):
        record = train(job, options.data, folder, device, options.backend)
    write_text(folder / "curve.csv", curve_text(record))
    write_record(folder / "record.json", record)
    (folder / "checkpoint.pt").unlink(missing_ok=True)


if __name__ == "__main__":
    run(main)
