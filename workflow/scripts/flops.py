"""Count the multiply-accumulates of one configuration: `python -m workflow.scripts.flops WEIGHTS OUT`.

WEIGHTS: weights.pt of a run, its job.json beside it. Ours from shapes, beside torch's counter and fvcore's.
"""

import argparse
from pathlib import Path

import torch

from workflow.config.command_line import run
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.spec import TASKS, load
from workflow.training.watchdog import status_of

AGREE = 0.01  # our count and a counter's may differ by this share; beyond, the row is an error


def measure(trained: TrainedRun) -> dict:
    """The counts of one configuration; a disagreement is a failure with its reason."""
    if not trained.has_weights:
        return trained.not_measured("flops")
    device = torch.device("cpu")
    row = {**trained.about, "device": device.type, "status": "ok", "reason": None}
    try:
        job, net = trained.load(device)
        row |= load(TASKS[job.task].costs).count(job, net, device)
    except Exception as error:
        return row | {"status": status_of(error), "reason": f"{type(error).__name__}: {error}"[:300]}
    for counter in ("macs_torch", "macs_fvcore"):
        difference = row[counter] / row["macs_analytic"] - 1
        if abs(difference) > AGREE:
            row |= {"status": "error", "reason": f"{counter} differs from our count by {difference:+.1%}"}
    return row


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="flops", description="Count the multiply-accumulates of a configuration.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    write_text(options.out, write_rows("flops", [measure(TrainedRun.at(options.weights))]))


if __name__ == "__main__":
    run(main)
