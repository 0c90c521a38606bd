"""Time every cell: `python -m workflow.scripts.throughput PLAN OUT --how '{"char_lm": {"passes": 3, ...}}'`.

Runs benchmarks/test_throughput.py with the device to itself and pools each cell's rounds over all passes.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from workflow.cli._main import run
from workflow.costs import trained_net as subject
from workflow.costs.benchmark import bench
from workflow.costs.lease import lease
from workflow.plan.scales import read_measures
from workflow.results.record import write_text
from workflow.training.origin import pick_device

COLUMNS = ("ms", "tokens_per_s", "spread", "turns")


def pooled(benchmarks: list[dict]) -> dict[tuple[str, str], dict]:
    """(cell, kind) -> median milliseconds, tokens per second, spread (interquartile range over median); turns: the
    medians of each turn that the cell had among the others, which a claim compares turn by turn.
    """
    rounds, turns, about = defaultdict(list), defaultdict(list), {}
    for one in benchmarks:
        key = one["extra_info"]["configuration"], one["extra_info"]["kind"]
        rounds[key] += one["stats"]["data"]
        turns[key].append(1000 * float(np.median(one["stats"]["data"])))
        about[key] = one["extra_info"]
    found = {}
    for key, seconds in rounds.items():
        low, median, high = np.percentile(seconds, [25, 50, 75])
        found[key] = {
            "ms": 1000 * median,
            "tokens_per_s": about[key]["tokens"] / median,
            "spread": (high - low) / median,
            "turns": turns[key],
        }
    return found


def rows(plan: list[dict], found: dict, device: str, runs: Path) -> list[dict]:
    """One object per cell, with train_* and predict_* columns; a cell that was not timed says so."""
    made = []
    for row in subject.cells(plan):
        if not subject.weights_of(row, runs).exists():
            made.append(subject.came_with_the_project("throughput", row))
            continue
        one = {
            "configuration": row["configuration"],
            "digest": row["digest"],
            "device": device,
            "status": "ok",
            "reason": None,
        }
        for kind in ("train", "predict"):
            timed = found.get((row["configuration"], kind))
            if timed is None:
                one |= {"status": "error", "reason": f"{kind} was not timed: see the throughput log"}
                continue
            one |= {f"{kind}_{column}": timed[column] for column in COLUMNS}
        made.append(one)
    return made


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="throughput", description="Time every cell.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--how", type=read_measures, required=True, help="as in config/scales/, by task, as JSON")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    device = pick_device(options.device)
    settings = {
        "THROUGHPUT_PLAN": str(options.plan.resolve()),
        "THROUGHPUT_HOW": json.dumps({task: one.model_dump() for task, one in options.how.items()}),
        "THROUGHPUT_DEVICE": options.device,
    }
    with lease(device, alone=True):
        timed = bench("test_throughput.py", settings)
    plan = json.loads(options.plan.read_text())
    write_text(options.out, json.dumps(rows(plan, pooled(timed), device.type, options.plan.parent / "runs"), indent=1))


if __name__ == "__main__":
    run(main)
