"""Measure the engine against its definition: `python -m workflow.scripts.engine OUT --how HOW [--device auto]`.

How: `engine` of the scale's measure of char_lm. First the gate: numbers and gradients of both in 64 bits, or nothing is
timed. Then benchmarks/test_engine.py with the device to itself, memory in processes of its own, counts, and how jobs
and threads share the machine.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from workflow.cli._main import run
from workflow.config.environment import allocator
from workflow.config.errors import ConfigError
from workflow.costs import engine_cases as engine_cases
from workflow.costs import engine_facts
from workflow.costs.benchmark import bench
from workflow.costs.fresh_process import in_fresh_process, weigh
from workflow.costs.lease import lease
from workflow.plan.scales import Engine, read_measures
from workflow.results.record import write_text
from workflow.training.origin import describe, pick_device

NAMES = ("fixed", "adaptive")


def timed(how: Engine, device: str) -> dict:
    """cases: what, name, S, way; median, quartiles in milliseconds, rounds. chosen: what computed attention there."""
    found = bench("test_engine.py", {"ENGINE_HOW": how.model_dump_json(), "ENGINE_DEVICE": device})
    rounds, chosen = defaultdict(list), set()
    for one in found:
        info = one["extra_info"]
        chosen |= set(info["chosen"])
        rounds[info["what"], info["name"], info["S"], info["implementation"]] += one["stats"]["data"]
    cases = [
        _row(how, case, rounds.get((case.what, case.name, case.S, case.implementation)))
        for case in engine_cases.cases(how)
    ]
    return {"cases": cases, "chosen": sorted(chosen)}


def _row(how: Engine, case: engine_cases.Case, seconds: list[float] | None) -> dict:
    row = {"what": case.what, "name": case.name, "S": case.S, "way": case.implementation}
    if not seconds:
        return row | {"status": "error", "reason": "not timed: see the engine's log", "ms": None}
    low, median, high = (1000 * one for one in np.percentile(seconds, [25, 50, 75]))
    row |= {"macs": engine_cases.product_macs(how)} if case.what == "product" else {}
    return row | {"status": "ok", "reason": None, "ms": median, "low": low, "high": high, "rounds": len(seconds)}


def step_bytes(how: Engine, case: engine_cases.Case, device: str) -> dict:
    """Two training steps above the libraries."""
    on = torch.device(device)
    return weigh(lambda: (engine_cases.training_step(how, case, on), 1), on, how.threads)


def weighed(how: Engine, device: str) -> list[dict]:
    rows = []
    for S in how.lengths:
        for name in NAMES:
            for way in ("engine", "definition"):
                case = engine_cases.Case("step", name, S, way)
                found = in_fresh_process(step_bytes, how, case, device)
                told = {key: found.get(key) for key in ("status", "reason", "bytes")}
                rows.append({"name": name, "S": S, "way": way, **told})
    return rows


def measure(how: Engine, device: torch.device) -> dict:
    """All of it, or the gate's refusal alone."""
    made = {"sizes": how.model_dump(), "allocator": allocator(), "gate": engine_facts.gate(device)}
    made["origin"] = describe(device, "fp32").model_dump()
    if made["gate"]["status"] != "ok":
        return made
    memory = weighed(how, device.type)  # before this process starts threads of its own
    with lease(device, alone=True):
        made |= {"memory": memory, "parallel": engine_facts.parallel(device), **timed(how, device.type)}
        made |= {"macs": engine_facts.macs(how), "profiles": engine_facts.profiles(how, device)}
    return made | {"table": engine_facts.table()}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="engine", description="Measure the engine against its definition.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--how", type=read_measures, required=True, help="as in config/scales/, by task, as JSON")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    how = options.how["char_lm"].engine if "char_lm" in options.how else None
    if how is None:
        raise ConfigError("how: char_lm has no measure.engine: this scale does not ask for the engine's page")
    write_text(options.out, json.dumps(measure(how, pick_device(options.device)), indent=1))


if __name__ == "__main__":
    run(main)
