"""Measure the engine against its definition: `python -m workflow.scripts.engine OUT --sizes SIZES [--steps-only]`.

SIZES: `measure.engine` of the scale's char_lm, as JSON. First the gate: numbers and gradients of both in 64 bits, or
nothing is timed. Then benchmarks/test_engine.py with the device to itself, memory in processes of its own, counts, and
how jobs and threads share the machine; or, with --steps-only, training steps alone.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES, allocator
from workflow.costs import engine_cases, engine_facts, engine_parts
from workflow.costs.benchmark import run_benchmark
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.plan import sources
from workflow.plan.scales import Engine, read_sizes
from workflow.results.record import write_text
from workflow.training.origin import describe, pick_device

NAMES = ("fixed", "adaptive")


def timed(how: Engine, device: str, only: str = "") -> dict:
    """cases: what, name, S, implementation; median, quartiles in milliseconds, rounds. chosen: backends.

    only: cases of this kind alone, e.g. `step`.
    """
    settings = {"ENGINE_SIZES": how.model_dump_json(), "ENGINE_DEVICE": device, "ENGINE_ONLY": only}
    rounds, chosen = defaultdict(list), set()
    for report in run_benchmark("test_engine.py", settings):
        info = report["extra_info"]
        chosen |= set(info["chosen"])
        rounds[info["what"], info["name"], info["S"], info["implementation"]] += report["stats"]["data"]
    cases = [case for case in engine_cases.cases(how) if not only or case.what == only]
    rows = [_row(how, case, rounds.get((case.what, case.name, case.S, case.implementation))) for case in cases]
    return {"cases": rows, "chosen": sorted(chosen)}


def _row(how: Engine, case: engine_parts.Case, seconds: list[float] | None) -> dict:
    row = {"what": case.what, "name": case.name, "S": case.S, "implementation": case.implementation}
    if not seconds:
        return row | {"status": "error", "reason": "not timed: see the engine's log", "ms": None}
    low, median, high = (1000 * value for value in np.percentile(seconds, [25, 50, 75]))
    row |= {"macs": engine_parts.product_macs(how)} if case.what == "product" else {}
    return row | {"status": "ok", "reason": None, "ms": median, "low": low, "high": high, "rounds": len(seconds)}


def step_bytes(how: Engine, case: engine_parts.Case, device: str) -> dict:
    """Two training steps above the libraries."""
    on = pick_device(device)
    return peak_memory(lambda: (engine_cases.training_step(how, case, on), 1), on, how.threads)


def weighed(how: Engine, device: str) -> list[dict]:
    rows = []
    for S in how.lengths:
        for name in NAMES:
            for implementation in ("engine", "definition"):
                case = engine_parts.Case("step", name, S, implementation)
                peak = in_fresh_process(step_bytes, how, case, device)
                cells = {key: peak.get(key) for key in ("status", "reason", "bytes")}
                rows.append({"name": name, "S": S, "implementation": implementation, **cells})
    return rows


def measure(how: Engine, name: str, steps_only: bool = False) -> dict:
    """All of it on the device of this name, or training steps alone.

    Where engine and definition disagree, nothing is timed.
    """
    gate = in_fresh_process(lambda: engine_facts.gate(pick_device(name)))
    memory = [] if steps_only or gate["status"] != "ok" else weighed(how, name)
    device = pick_device(name)  # after all that is forked: a process that has touched a GPU cannot share it with a fork
    report = {"sizes": how.model_dump(), "allocator": allocator(), "gate": gate}
    report["origin"] = describe(device, "fp32", sources.recorded(sources.of_script("engine"))).model_dump()
    if report["gate"]["status"] != "ok":
        return report
    if steps_only:
        return report | timed(how, device.type, only="step") | {"macs": engine_facts.macs(how)}
    report |= {"memory": memory, "parallel": engine_facts.parallel(device), **timed(how, device.type)}
    return report | {"macs": engine_facts.macs(how), "profiles": engine_facts.profiles(how, device)}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="engine", description="Measure the engine against its definition.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sizes", type=read_sizes, required=True, help="measure.engine of a scale, as JSON")
    parser.add_argument("--steps-only", action="store_true", help="time training steps alone, in about a minute")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    report = measure(options.sizes, options.device, options.steps_only)
    write_text(options.out, json.dumps(report, indent=1))


if __name__ == "__main__":
    run(main)
