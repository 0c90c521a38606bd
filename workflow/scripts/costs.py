"""Measure one configuration: `python -m workflow.scripts.costs WEIGHTS --flops OUT --memory OUT [--device auto]`.

WEIGHTS: weights.pt of a run, its job.json beside it. Multiply-accumulates and peak memory, in one process, because
Python and its libraries take longer to start than either takes.
"""

from pathlib import Path

import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.configuration import count_flops, measure_memory
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import write_text
from workflow.results.rows import write_rows


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="costs", description="Measure one configuration.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("--flops", type=Path, required=True)
    parser.add_argument("--memory", type=Path, required=True)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    trained = TrainedRun.at(options.weights)
    memory = measure_memory(trained, options.device)  # first: its forks begin with what this process holds
    write_text(options.memory, write_rows("memory", [memory]))
    write_text(options.flops, write_rows("flops", [count_flops(trained)]))


if __name__ == "__main__":
    run(main)
