"""Measure the peak memory of one configuration: `python -m workflow.scripts.memory WEIGHTS OUT [--device auto]`.

A training step and a block of evaluation, each in a process of its own.
"""

import argparse
from pathlib import Path

import torch

from workflow.config.command_line import run
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.spec import TASKS, load
from workflow.training.origin import pick_device


def measure_work(trained: TrainedRun, work: str, device: str) -> dict:
    """Peak bytes of `work`: training_step | evaluation. For a process that has computed nothing else."""
    on, job = pick_device(device), trained.job
    make = getattr(load(TASKS[job.task].costs), work)
    return peak_memory(lambda: make(*trained.load(on), on), on, job.training.threads)


def measure(trained: TrainedRun, device: str) -> dict:
    """One row: the memory of a training step and of a block of evaluation."""
    if not trained.has_weights:
        return trained.unmeasured_row("memory")
    training = in_fresh_process(measure_work, trained, "training_step", device)
    evaluation = in_fresh_process(measure_work, trained, "evaluation", device)
    failed = next((measured for measured in (training, evaluation) if measured["status"] != "ok"), None)
    return {
        **trained.about,
        "status": failed["status"] if failed else "ok",
        "reason": failed["reason"] if failed else None,
        "memory_train_bytes": training.get("bytes"),
        "memory_evaluate_bytes": evaluation.get("bytes"),
        "memory_reserved_bytes": training.get("reserved"),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="memory", description="Measure the peak memory of a configuration.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    write_text(options.out, write_rows("memory", [measure(TrainedRun.at(options.weights), options.device)]))


if __name__ == "__main__":
    run(main)
