"""What `workflow.scripts.engine` would have written, made up: the engine ten times as fast in a tenth of the memory."""

from benchmarks.targets import SIZES
from workflow.costs.engine_cases import cases
from workflow.plan.scales import Engine

HOW = Engine(**SIZES, lengths=[256, 1024], far=8192, threads=2, rounds=2)
STEP_MS, PRODUCT_MS = 500.0, 10.0


def measured(**changes) -> dict:
    """changes: of the sizes."""
    how = HOW.model_copy(update=changes)
    memory = [
        {"name": name, "S": S, "implementation": implementation, "status": "ok", "reason": None, "bytes": size << 20}
        for S in how.lengths
        for name in ("fixed", "adaptive")
        for implementation, size in (("engine", 100), ("definition", 1000))
    ]
    speed = 2e11  # multiply-accumulates a second; every floor is 0.9 of a step
    macs = [
        {"name": peak["name"], "S": peak["S"], "mean_reach": 40.0, "floor": int(0.9 * speed * STEP_MS / 1000)}
        | dict.fromkeys(("analytic", "counted", "executed", "dense"), 1e6)
        for peak in memory[::2]
    ]
    return {
        "sizes": how.model_dump(),
        "allocator": "as a test has it",
        "gate": {"status": "ok", "worst": 1e-14, "where": "fixed: the output", "bound": 1e-9},
        "origin": {"device": "cpu: made up", "versions": {"torch": "2"}, "commit": "0" * 40, "started": "2026-01-01"},
        "cases": [_cell(case, speed) for case in cases(how)],
        "memory": memory,
        "macs": macs,
        "profiles": [{"name": "fixed", "S": 256, "shares": {"aten::mm": 0.5}}],
        "parallel": [{"jobs": 2, "threads": 1, "tokens_per_s": [12345.0, 12400.0]}],
        "chosen": ["cpu float32: Fixed All Softmax: band"],
    }


def _cell(case, speed: float) -> dict:
    ms = {"product": PRODUCT_MS, "step": STEP_MS, "attention": 10.0, "predict": 5.0, "sentence": 2.0}[case.what]
    ms *= 1 if case.implementation == "engine" else 10
    cell = {"what": case.what, "name": case.name, "S": case.S, "implementation": case.implementation}
    cell |= {"status": "ok", "reason": None, "ms": ms, "low": 0.9 * ms, "high": 1.1 * ms, "rounds": 4}
    return cell | ({"macs": int(speed * PRODUCT_MS / 1000)} if case.what == "product" else {})
