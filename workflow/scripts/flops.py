"""Count multiply-accumulates of every cell: `python -m workflow.scripts.flops PLAN OUT`.

Ours from shapes, beside torch's counter and fvcore's, on the trained nets.
"""

import argparse
import json
from pathlib import Path

import torch

from workflow.cli._main import run
from workflow.costs import trained_net as subject
from workflow.costs.kinds import KINDS
from workflow.results.record import write_text
from workflow.training.watchdog import status_of

AGREE = 0.01  # our count and a counter's may differ by this share; beyond, the cell is an error


def measure(row: dict, runs: Path, device: torch.device) -> dict:
    """The counts of one cell; a disagreement is a failure with its reason."""
    if not subject.weights_of(row, runs).exists():
        return subject.came_with_the_project("flops", row)
    made = {
        "configuration": row["configuration"],
        "digest": row["digest"],
        "device": device.type,
        "status": "ok",
        "reason": None,
    }
    try:
        job, net = subject.load(row, runs, device)
        made |= KINDS[job.task].count(job, net, device)
    except Exception as error:
        return made | {"status": status_of(error), "reason": f"{type(error).__name__}: {error}"[:300]}
    for counter in ("macs_torch", "macs_fvcore"):
        off = made[counter] / made["macs_analytic"] - 1
        if abs(off) > AGREE:
            made |= {"status": "error", "reason": f"{counter} differs from our count by {off:+.1%}"}
    return made


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="flops", description="Count multiply-accumulates of every cell.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(argv)
    rows = subject.cells(json.loads(options.plan.read_text()))
    runs = options.plan.parent / "runs"
    found = [measure(row, runs, torch.device("cpu")) for row in rows]
    write_text(options.out, json.dumps(found, indent=1))


if __name__ == "__main__":
    run(main)
