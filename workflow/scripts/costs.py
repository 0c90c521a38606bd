"""Measure one configuration: `python -m workflow.scripts.costs WEIGHTS --flops OUT --memory OUT
[--device auto] [--backend auto]`.

WEIGHTS: weights.pt of a run, its job.json in the same folder. Multiply-accumulates and peak memory,
in one process, because Python and its libraries take longer to start than either takes.
"""

from dataclasses import asdict
from pathlib import Path

import torch

from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.trained_net import TrainedRun
from workflow.results.makers import code_of
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.spec import TASKS, load
from workflow.training.backends import chosen
from workflow.training.failures import failure
from workflow.training.hardware import name_of, pick_device

# a larger relative difference between our count and a library's makes the row an error
TOLERANCE = 0.01


def count_flops(trained: TrainedRun) -> dict:
    """Count from shapes, and check the count against torch's and fvcore's.

    A disagreement makes the row an error.
    """
    if not trained.has_weights:
        return trained.unmeasured_row("flops")
    device = torch.device("cpu")
    row = {**trained.about, "device": device.type, "status": "ok", "reason": None}
    try:
        job, model = trained.load(device)
        row |= load(TASKS[job.task].costs).count(job, model, device)
    except Exception as error:
        return row | asdict(failure(error))
    for counter in ("macs_torch", "macs_fvcore"):
        difference = row[counter] / row["macs_analytic"] - 1
        if abs(difference) > TOLERANCE:
            row["status"] = "error"
            row["reason"] = f"{counter} differs from our count by {difference:+.1%}"
    return row


def measure_memory(trained: TrainedRun, device: str, backend: str) -> dict:
    """Measure the peak of a training step and of a block of evaluation, in bytes.

    Each runs in a new process. This one must not have computed anything yet: memory it freed would
    be missing from what its forks hold.
    """
    if not trained.has_weights:
        return trained.unmeasured_row("memory")
    training = in_fresh_process(_peak_of, trained, "training_step", device, backend)
    evaluation = in_fresh_process(_peak_of, trained, "evaluation", device, backend)
    # the first that failed, else either
    outcome = training if training["status"] != "ok" else evaluation
    return {
        **trained.about,
        "status": outcome["status"],
        "reason": outcome["reason"],
        "memory_train_bytes": training.get("bytes"),
        "memory_evaluate_bytes": evaluation.get("bytes"),
        "memory_reserved_bytes": training.get("reserved"),
        "backend": training.get("backend"),
        "machine": training.get("machine"),
    }


def _peak_of(trained: TrainedRun, work: str, device: str, backend: str) -> dict:
    """Measure one kind of work of a run: training_step | evaluation."""
    on = pick_device(device)
    models = []

    def make():
        job, model = trained.load(on, backend)
        models.append(model)
        measured = getattr(load(TASKS[job.task].costs), work)
        return measured(job, model, on)

    peak = peak_memory(make, on, trained.job.training.threads)
    return peak | {"backend": code_of(chosen(models[0])), "machine": name_of(on)}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="costs", description="Measure the MACs and peak memory of one configuration."
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("--flops", type=Path, required=True)
    parser.add_argument("--memory", type=Path, required=True)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--backend", default="auto", choices=backend_names())
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    trained = TrainedRun.at(options.weights)
    # first: its forks begin with what this process holds
    memory = measure_memory(trained, options.device, options.backend)
    write_text(options.memory, write_rows("memory", [memory]))
    write_text(options.flops, write_rows("flops", [count_flops(trained)]))


if __name__ == "__main__":
    run(main)
