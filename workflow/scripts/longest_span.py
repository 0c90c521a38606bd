"""Find the longest span limit S that fits: `python -m workflow.scripts.longest_span WEIGHTS OUT --measure MEASURE`.

MEASURE: how the scale measures costs, as JSON. S is doubled until a training step no longer fits the memory budget:
`oom` is the result, not a failure. Spans keep the length that they have learned.
"""

import argparse
from pathlib import Path

import torch

from workflow.config.command_line import run
from workflow.costs import streams
from workflow.costs.fresh_process import in_fresh_process, weigh
from workflow.costs.trained_net import TrainedRun, with_limit
from workflow.plan.scales import Measure, read_measure
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.training.origin import pick_device


def step(trained: TrainedRun, device: str, S: int, budget: int) -> dict:
    """One training step of the net with its limit raised to S."""
    on = pick_device(device)

    def make():
        job, net = trained.load(on)
        return streams.training_step(job, with_limit(job, net, S, on), on)

    return weigh(make, on, trained.job.training.threads, budget)


def search(trained: TrainedRun, device: str, how: Measure) -> dict:
    """The largest S, by doubling, at which a training step fits the budget."""
    if not trained.has_weights:
        return trained.not_measured("longest_span")
    row = {**trained.about, "status": "ok", "reason": None, "memory_budget_bytes": how.memory_mb << 20}
    S, fits = trained.job.attention.span["limit"], None
    while how.longest_S >= S:
        found = in_fresh_process(step, trained, device, S, how.memory_mb << 20, seconds=120)
        if found["status"] != "ok":
            return row | {"longest_S": fits, "longest_S_ended": found["status"]}
        fits, S = S, 2 * S
    return row | {"longest_S": fits, "longest_S_ended": "the end of the search"}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="longest_span", description="Find the longest span limit that fits.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--measure", type=read_measure, required=True, help="as in config/scales/, as JSON")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    row = search(TrainedRun.at(options.weights), options.device, options.measure)
    write_text(options.out, write_rows("longest_span", [row]))


if __name__ == "__main__":
    run(main)
