"""How speeds are timed: by pytest-benchmark, in rounds, compared with a reference step.

The reference step is a small training step of plain torch that depends on nothing of the models
that are timed. Timed before and after every turn, it says how fast the machine was just then.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median

import torch

from models.kernels.compiled.build import fix_sums
from workflow.config.files import ROOT
from workflow.training.hardware import synchronise

# the reference step: 8 ms on one core of a server of 2023
STREAMS = 4
LENGTH = 96
WIDTH = 128
LAYERS = 6
ROUNDS = 4  # steps before a turn, and after it
BLOCKS = 20  # blocks of reference steps
PAUSE = 0.1  # seconds between them
SLOW = 1.15  # times the quiet machine's step, from which on the machine was not quiet
# rounds of one turn
FEWEST = 3
MOST = 200


def run_benchmark(settings: dict[str, str]) -> list[dict]:
    """Run benchmarks/test_throughput.py with these environment variables; return its reports:
    extra_info and stats.

    Empty where pytest ended without a report. Variables of pytest's own are not passed on: in a
    worker of a test run they would switch timing off.
    """
    # without a name: nothing is left where this process is killed
    with tempfile.TemporaryFile() as report:
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "benchmarks/test_throughput.py",
        ]
        words += [
            f"--benchmark-json=/dev/fd/{report.fileno()}",
            "--benchmark-disable-gc",
            "--benchmark-columns=median,iqr,rounds",
        ]
        environment = {}
        for key, value in os.environ.items():
            if not key.startswith("PYTEST_"):
                environment[key] = value
        environment |= settings
        subprocess.run(words, cwd=ROOT, env=environment, pass_fds=[report.fileno()], check=False)
        report.seek(0)
        written = report.read()
        return json.loads(written)["benchmarks"] if written else []


def seconds_of(step: Callable[[], object], device: torch.device) -> float:
    """Time one call of `step`, up to the end of what it gave the device to do."""
    synchronise(device)
    start = time.perf_counter()
    step()
    synchronise(device)
    return time.perf_counter() - start


def count_rounds(seconds: float, step: Callable[[], object], device: torch.device) -> int:
    """Count the calls of `step` that fit into so many seconds, after one that warms up."""
    step()
    return max(FEWEST, min(MOST, int(seconds / seconds_of(step, device))))


def time_turn(step: Callable[[], object], seconds: float, device: torch.device) -> list[float]:
    """Time as many calls of `step` as fit into `seconds`: seconds of each."""
    return [seconds_of(step, device) for _ in range(count_rounds(seconds, step, device))]


def reference_step(device: torch.device) -> Callable[[], object]:
    """Make the reference step: layers of attention without projections, forward and backward."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(STREAMS, LENGTH, WIDTH, generator=draw).to(device)
    weights = []
    for _ in range(LAYERS):
        weight = torch.randn(WIDTH, WIDTH, generator=draw) / WIDTH**0.5
        weight = weight.to(device)
        weights.append(weight.requires_grad_())

    def step():
        x = inputs
        for weight in weights:
            keys = x @ weight
            scores = keys @ keys.transpose(1, 2) / WIDTH**0.5
            x = torch.tanh(x + scores.softmax(-1) @ keys)
        return torch.autograd.grad(x.square().mean(), weights)

    return step


def time_reference(step: Callable[[], object], device: torch.device) -> list[float]:
    """Time `ROUNDS` reference steps in milliseconds, after one that warms up."""
    return [1000 * seconds_of(step, device) for _ in range(1 + ROUNDS)][1:]


def quiet_time(threads: int, device: torch.device) -> float:
    """Time the reference step on the quiet machine, in milliseconds.

    It is the fastest of the medians of some blocks.
    """
    fix_sums(threads)
    step = reference_step(device)
    blocks = []
    for _ in range(BLOCKS):
        time.sleep(PAUSE)
        blocks.append(median(time_reference(step, device)))
    return min(blocks)
