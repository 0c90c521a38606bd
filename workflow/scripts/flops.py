"""Count the multiply-accumulates of one configuration: `python -m workflow.scripts.flops WEIGHTS OUT`.

WEIGHTS: weights.pt of a run, its job.json beside it. Our count from shapes is checked against torch's and fvcore's.
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

TOLERANCE = 0.01  # a larger relative difference between our count and a library's makes the row an error


def measure(trained: TrainedRun) -> dict:
    """The counts of one configuration; a disagreement is a failure with its reason."""
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


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="flops", description="Count the multiply-accumulates of a configuration.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    write_text(options.out, write_rows("flops", [measure(TrainedRun.at(options.weights))]))


if __name__ == "__main__":
    run(main)
