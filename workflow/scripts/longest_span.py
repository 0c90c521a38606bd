"""Find the longest span limit S that fits: `python -m workflow.scripts.longest_span WEIGHTS OUT
--measure MEASURE`.

MEASURE: how the scale measures costs, as JSON. S is doubled until a training step no longer fits
the memory budget, so `oom` ends the search and is not a failure. Learned spans keep their length.
"""

from pathlib import Path

import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.costs import streams
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.trained_net import TrainedRun, with_limit
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.settings.scales import Measure, read_measure
from workflow.training.hardware import name_of, pick_device


def step(trained: TrainedRun, device: str, S: int, budget: int) -> dict:
    """Measure the memory of a training step of the model with its limit raised to S."""
    on = pick_device(device)

    def make():
        job, model = trained.load(on)
        return streams.training_step(job, with_limit(job, model, S, on), on)

    return peak_memory(make, on, trained.job.training.threads, budget) | {"machine": name_of(on)}


def search(trained: TrainedRun, device: str, settings: Measure) -> dict:
    """Find the largest S, by doubling, at which a training step fits the budget."""
    span = trained.job.attention.span
    if "limit" not in span:
        raise ConfigError(f"{trained.path}: span {span['name']} has no limit S to raise")
    if not trained.has_weights:
        return trained.unmeasured_row("longest_span")
    budget = settings.memory_mb << 20
    row = {**trained.about, "status": "ok", "reason": None, "memory_budget_bytes": budget}
    row["machine"] = None
    S, fits = span["limit"], None
    while settings.longest_S >= S:
        measured = in_fresh_process(step, trained, device, S, budget, seconds=120)
        if measured["status"] != "ok":
            return row | {"longest_S": fits, "longest_S_ended": measured["status"]}
        row["machine"] = measured.get("machine")
        fits, S = S, 2 * S
    return row | {"longest_S": fits, "longest_S_ended": "the end of the search"}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="longest_span", description="Find the longest span limit S that fits in memory."
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--measure", type=read_measure, required=True, help="as in config/scales/, as JSON"
    )
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    row = search(TrainedRun.at(options.weights), options.device, options.measure)
    write_text(options.out, write_rows("longest_span", [row]))


if __name__ == "__main__":
    run(main)
