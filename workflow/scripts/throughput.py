"""Time the configurations of one ablation.

    python -m workflow.scripts.throughput ABLATION OUT WEIGHTS... --measure MEASURE

Runs benchmarks/test_throughput.py with the device to itself and pools each configuration's rounds over all passes.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.benchmark import run_benchmark
from workflow.costs.trained_net import TrainedRun
from workflow.plan.scales import Measure, read_measure
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.training.origin import pick_device

COLUMNS = ("ms", "tokens_per_s", "spread", "turns")


def pool_rounds(benchmarks: list[dict]) -> dict[tuple[str, str], dict]:
    """(configuration, kind) -> ms, a median; tokens_per_s; spread, the interquartile range over the median; turns.

    turns: the median of each turn that the configuration had among the others; a claim compares them turn by turn.
    """
    rounds, turns, about = defaultdict(list), defaultdict(list), {}
    for report in benchmarks:
        info, seconds = report["extra_info"], report["stats"]["data"]
        key = info["configuration"], info["kind"]
        rounds[key] += seconds
        turns[key].append(1000 * float(np.median(seconds)))
        about[key] = info
    timed = {}
    for key, seconds in rounds.items():
        low, median, high = np.percentile(seconds, [25, 50, 75])
        timed[key] = {
            "ms": 1000 * median,
            "tokens_per_s": about[key]["tokens"] / median,
            "spread": (high - low) / median,
            "turns": turns[key],
        }
    return timed


def build_rows(runs: list[TrainedRun], timed: dict, ablation: str, device: str) -> list[dict]:
    """One object per configuration, with columns for each kind of step that is timed; one that was not says so."""
    measured = []
    for trained in runs:
        if not trained.has_weights:
            measured.append(trained.unmeasured_row("throughput") | {"ablation": ablation})
            continue
        row = {**trained.about, "ablation": ablation, "device": device, "status": "ok", "reason": None}
        for kind in trained.timed:
            speed = timed.get((trained.job.configuration, kind))
            if speed is None:
                row |= {"status": "error", "reason": f"{kind} was not timed: see the throughput log"}
                continue
            row |= {f"{kind}_{column}": speed[column] for column in COLUMNS}
        measured.append(row)
    return measured


def time_runs(runs: list[TrainedRun], measure: Measure, device: torch.device) -> list[dict]:
    """The benchmark's reports of these runs, one for each turn, with the device to themselves."""
    if not runs:
        return []
    settings = {
        "THROUGHPUT_WEIGHTS": json.dumps([str(trained.path.resolve()) for trained in runs]),
        "THROUGHPUT_MEASURE": measure.model_dump_json(),
        "THROUGHPUT_DEVICE": device.type,
    }
    return run_benchmark("test_throughput.py", settings)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="throughput", description="Time the configurations of one ablation.")
    parser.add_argument("ablation")
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--measure", type=read_measure, required=True, help="as in config/scales/, as JSON")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    device = pick_device(options.device)
    runs = [TrainedRun.at(path) for path in options.weights]
    reports = time_runs([trained for trained in runs if trained.has_weights], options.measure, device)
    rows = build_rows(runs, pool_rounds(reports), options.ablation, device.type)
    write_text(options.out, write_rows("throughput", rows))


if __name__ == "__main__":
    run(main)
