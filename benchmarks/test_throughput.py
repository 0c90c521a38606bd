"""Throughput of every cell of a plan, through pytest-benchmark: a training step and one more character.

Run by `python -m workflow.scripts.throughput`, alone on the device. The cells take turns (A B C, A B C, ...), so that
a machine that slows down slows all of them; each is warmed up, synchronised, and timed for a bounded while.
"""

import json
import os
import time
from pathlib import Path

import pytest
import torch

from workflow.costs import trained_net as subject
from workflow.costs.kinds import KINDS
from workflow.plan.scales import read_measures
from workflow.training.origin import pick_device

PLAN = os.environ.get("THROUGHPUT_PLAN")
HOW = read_measures(os.environ.get("THROUGHPUT_HOW", "{}"))
RUNS = Path(PLAN).parent / "runs" if PLAN else Path()
ROWS = (
    [row for row in subject.cells(json.loads(Path(PLAN).read_text())) if subject.weights_of(row, RUNS).exists()]
    if PLAN
    else []
)
TURNS = [
    (turn, kind, row)
    for turn in range(max((how.passes for how in HOW.values()), default=0))
    for row in ROWS
    for kind in ("train", "predict")
    if turn < HOW[row["job"]["task"]].passes
]


@pytest.mark.skipif(not PLAN, reason="needs a plan: run python -m workflow.scripts.throughput")
@pytest.mark.parametrize("turn, kind, row", TURNS, ids=[f"{t}-{kind}-{row['configuration']}" for t, kind, row in TURNS])
def test_throughput(benchmark, turn, kind, row):
    device = pick_device(os.environ.get("THROUGHPUT_DEVICE", "auto"))
    job, net = subject.load(row, RUNS, device)
    torch.set_num_threads(job.training.threads)
    how, of = HOW[job.task], KINDS[job.task]
    step, tokens = (
        of.training_step(job, net, device) if kind == "train" else of.prediction(job, net, device, how.predict_batch)
    )

    def synchronised():
        step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    synchronised()
    start = time.perf_counter()
    synchronised()
    rounds = max(3, min(200, int(how.seconds / (time.perf_counter() - start))))
    benchmark.extra_info.update(configuration=row["configuration"], digest=row["digest"], kind=kind, tokens=tokens)
    benchmark.pedantic(synchronised, rounds=rounds, iterations=1, warmup_rounds=1)
