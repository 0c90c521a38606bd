"""Time the configurations of one ablation: `python -m workflow.scripts.throughput ABLATION OUT WEIGHTS...`.

Runs benchmarks/test_throughput.py with the device to itself and pools each configuration's rounds over all passes.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from workflow.config.command_line import run
from workflow.costs.benchmark import bench
from workflow.costs.lease import lease
from workflow.costs.trained_net import TrainedRun
from workflow.plan.scales import read_measure
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.training.origin import pick_device

COLUMNS = ("ms", "tokens_per_s", "spread", "turns")


def pooled(benchmarks: list[dict]) -> dict[tuple[str, str], dict]:
    """(configuration, kind) -> median milliseconds, tokens per second, spread (interquartile range over median); turns:
    the medians of each turn that the configuration had among the others, which a claim compares turn by turn.
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


def rows(runs: list[TrainedRun], timed: dict, ablation: str, device: str) -> list[dict]:
    """One object per configuration, with train_* and predict_* columns; one that was not timed says so."""
    made = []
    for trained in runs:
        if not trained.has_weights:
            made.append(trained.not_measured("throughput") | {"ablation": ablation})
            continue
        row = {**trained.about, "ablation": ablation, "device": device, "status": "ok", "reason": None}
        for kind in ("train", "predict"):
            found = timed.get((trained.job.configuration, kind))
            if found is None:
                row |= {"status": "error", "reason": f"{kind} was not timed: see the throughput log"}
                continue
            row |= {f"{kind}_{column}": found[column] for column in COLUMNS}
        made.append(row)
    return made


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="throughput", description="Time the configurations of one ablation.")
    parser.add_argument("ablation")
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--measure", type=read_measure, required=True, help="as in config/scales/, as JSON")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    device = pick_device(options.device)
    runs = [TrainedRun.at(path) for path in options.weights]
    settings = {
        "THROUGHPUT_WEIGHTS": json.dumps([str(trained.path.resolve()) for trained in runs if trained.has_weights]),
        "THROUGHPUT_MEASURE": options.measure.model_dump_json(),
        "THROUGHPUT_DEVICE": options.device,
    }
    with lease(device, alone=True):
        timed = bench("test_throughput.py", settings)
    write_text(options.out, write_rows("throughput", rows(runs, pooled(timed), options.ablation, device.type)))


if __name__ == "__main__":
    run(main)
