"""Weigh every cell, and find the longest S that fits.

    python -m workflow.scripts.memory PLAN OUT --how '{"char_lm": {"memory_mb": 1024, ...}}'

Each cell in a process of its own, for a training step and for a block of evaluation. The longest S is found
by doubling until a training step no longer fits the budget: `oom` is the result, not a failure.
"""

import argparse
import json
from pathlib import Path

import torch

from workflow.cli._main import run
from workflow.costs import streams
from workflow.costs import trained_net as subject
from workflow.costs.fresh_process import in_fresh_process, weigh
from workflow.costs.kinds import KINDS
from workflow.plan.scales import Measure, read_measures
from workflow.results.record import write_text
from workflow.training.origin import pick_device


def training(row: dict, runs: Path, device: str) -> dict:
    on, threads = pick_device(device), row["job"]["training"]["threads"]
    of = KINDS[row["job"]["task"]]
    return weigh(lambda: of.training_step(*subject.load(row, runs, on), on), on, threads)


def evaluation(row: dict, runs: Path, device: str) -> dict:
    on, threads = pick_device(device), row["job"]["training"]["threads"]
    of = KINDS[row["job"]["task"]]
    return weigh(lambda: of.evaluation(*subject.load(row, runs, on), on), on, threads)


def longer(row: dict, runs: Path, device: str, S: int, budget: int) -> dict:
    """One training step of the cell with its limit raised to S and its spans, in characters, as trained."""
    on, threads = pick_device(device), row["job"]["training"]["threads"]

    def make():
        job, net = subject.load(row, runs, on)
        return streams.training_step(job, subject.with_limit(job, net, S, on), on)

    return weigh(make, on, threads, budget)


def longest(row: dict, runs: Path, device: str, how: Measure) -> dict:
    """The largest S, by doubling, at which a training step fits the budget."""
    S, fits = row["job"]["attention"]["span"]["limit"], None
    while how.longest_S >= S:
        found = in_fresh_process(longer, row, runs, device, S, how.memory_mb << 20, seconds=120)
        if found["status"] != "ok":
            return {"longest_S": fits, "longest_S_ended": found["status"]}
        fits, S = S, 2 * S
    return {"longest_S": fits, "longest_S_ended": "the end of the search"}


def measure(row: dict, runs: Path, device: str, how: Measure) -> dict:
    if not subject.weights_of(row, runs).exists():
        return subject.came_with_the_project("memory", row)
    made = {"configuration": row["configuration"], "digest": row["digest"], "memory_budget_bytes": how.memory_mb << 20}
    trained = in_fresh_process(training, row, runs, device)
    evaluated = in_fresh_process(evaluation, row, runs, device)
    failed = next((found for found in (trained, evaluated) if found["status"] != "ok"), None)
    made |= {
        "status": failed["status"] if failed else "ok",
        "reason": failed["reason"] if failed else None,
        "memory_train_bytes": trained.get("bytes"),
        "memory_evaluate_bytes": evaluated.get("bytes"),
        "memory_reserved_bytes": trained.get("reserved"),
    }
    return made


def searched(rows: list[dict]) -> set[str]:
    """The cells from which the longest S is sought: plain ones with a limit, each at its largest S, once per span."""
    best: dict[str, dict] = {}
    for row in rows:
        attention = row["job"]["attention"]
        plain = attention["selection"]["name"] == "all" and attention["normaliser"]["name"] == "softmax"
        if plain and attention["span"].get("limit"):
            name, limit = attention["span"]["name"], attention["span"]["limit"]
            if name not in best or limit > best[name]["job"]["attention"]["span"]["limit"]:
                best[name] = row
    return {row["configuration"] for row in best.values()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="memory", description="Weigh every cell; find the longest S that fits.")
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--how", type=read_measures, required=True, help="as in config/scales/, by task, as JSON")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    rows = subject.cells(json.loads(options.plan.read_text()))
    runs = options.plan.parent / "runs"
    seek = searched(rows)
    found = []
    for row in rows:
        how = options.how[row["job"]["task"]]
        made = measure(row, runs, options.device, how)
        search = row["configuration"] in seek and made["status"] == "ok" and "longest_S" not in made
        found.append(made | (longest(row, runs, options.device, how) if search else {}))
    write_text(options.out, json.dumps(found, indent=1))


if __name__ == "__main__":
    run(main)
