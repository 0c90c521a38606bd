"""What is measured of one configuration by itself: its multiply-accumulates, and the memory that it takes."""

import torch

from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.trained_net import TrainedRun
from workflow.tasks.spec import TASKS, load
from workflow.training.guard import status_of
from workflow.training.origin import pick_device

TOLERANCE = 0.01  # a larger relative difference between our count and a library's makes the row an error


def count_flops(trained: TrainedRun) -> dict:
    """Our count from shapes, checked against torch's and fvcore's; a disagreement is a failure with its reason."""
    if not trained.has_weights:
        return trained.unmeasured_row("flops")
    device = torch.device("cpu")
    row = {**trained.about, "device": device.type, "status": "ok", "reason": None}
    try:
        job, net = trained.load(device)
        row |= load(TASKS[job.task].costs).count(job, net, device)
    except Exception as error:
        return row | {"status": status_of(error), "reason": f"{type(error).__name__}: {error}"[:300]}
    for counter in ("macs_torch", "macs_fvcore"):
        difference = row[counter] / row["macs_analytic"] - 1
        if abs(difference) > TOLERANCE:
            row |= {"status": "error", "reason": f"{counter} differs from our count by {difference:+.1%}"}
    return row


def measure_memory(trained: TrainedRun, device: str) -> dict:
    """Peak bytes of a training step and of a block of evaluation, each in a process of its own.

    For a process that has computed nothing yet: what it left free would be missing from what its forks hold.
    """
    if not trained.has_weights:
        return trained.unmeasured_row("memory")
    training = in_fresh_process(_peak_of, trained, "training_step", device)
    evaluation = in_fresh_process(_peak_of, trained, "evaluation", device)
    failed = next((measured for measured in (training, evaluation) if measured["status"] != "ok"), None)
    return {
        **trained.about,
        "status": failed["status"] if failed else "ok",
        "reason": failed["reason"] if failed else None,
        "memory_train_bytes": training.get("bytes"),
        "memory_evaluate_bytes": evaluation.get("bytes"),
        "memory_reserved_bytes": training.get("reserved"),
    }


def _peak_of(trained: TrainedRun, work: str, device: str) -> dict:
    """work: training_step | evaluation."""
    on, job = pick_device(device), trained.job
    make = getattr(load(TASKS[job.task].costs), work)
    return peak_memory(lambda: make(*trained.load(on), on), on, job.training.threads)
