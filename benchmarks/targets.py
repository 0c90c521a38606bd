"""Hold the engine's benchmark against its targets: `python -m benchmarks.targets results/laptop/engine.json`.

For those who work on the engine; the report shows measurements alone. Exit 1 where a target is missed.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from workflow.report.pages.engine_rows import Measured

SIZES = {"layers": 8, "d_model": 256, "heads": 4, "d_ff": 1024, "block": 256, "batch": 8}  # what the targets are for
SHARE = {  # of the floor of a step's products, at least, by span and S
    "adaptive": {256: 0.85, 1024: 0.85, 2048: 0.85, 4096: 0.80},
    "fixed": {256: 0.85, 1024: 0.88, 2048: 0.88, 4096: 0.85},
}
MEMORY = {256: 1 / 2, 1024: 1 / 4, 2048: 1 / 6, 4096: 1 / 8}  # of the definition's, at most, adaptive
TOP_K = {
    ("attention", "top-k, k = 8"): 0.8,
    ("attention", "top-k, k = 64"): 1.7,
    ("step", "top-k"): 1.02,
}  # at S = 1,024


def aims(measured: Measured) -> Iterator[tuple[str, float | None, float, bool]]:
    """What, its value, its target, and whether more is better."""
    for span, shares in SHARE.items():
        for S, share in _measured(shares, measured):
            yield f"share of the floor, {span}, S = {S}", measured.share_of_floor(span, S), share, True
    for S, share in _measured(MEMORY, measured):
        yield f"memory beside the definition, adaptive, S = {S}", measured.share_of_memory("adaptive", S), share, False
    for (what, name), most in TOP_K.items():
        base = measured.cell(what, "softmax" if what == "attention" else "fixed", 1024)
        yield f"{what}, {name}, beside softmax", measured.ratio(measured.cell(what, name, 1024), base), most, False


def _measured(targets: dict[int, float], measured: Measured) -> list[tuple[int, float]]:
    """The targets of the S that were measured."""
    return [(S, target) for S, target in targets.items() if S in measured.how["lengths"]]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="targets", description="Hold the engine's benchmark against its targets.")
    parser.add_argument("benchmark", type=Path)
    measured = Measured(json.loads(parser.parse_args(argv).benchmark.read_text(encoding="utf-8")))
    if any(measured.how[key] != value for key, value in SIZES.items()):
        print("the targets were set for nets of other sizes")
        return 2
    missed = 0
    for what, value, target, least in aims(measured):
        met = value is not None and (value >= target if least else value <= target)
        missed += not met
        shown = "not measured" if value is None else f"{value:.3g}"
        print(f"{'met   ' if met else 'missed'}  {shown:>12}  {'>=' if least else '<='} {target:.3g}  {what}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
