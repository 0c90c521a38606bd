"""Throughput of the configurations of an ablation, through pytest-benchmark: a training step and one more character.
Sparse normalisers are timed by our solvers and by the library's.

Run by `python -m workflow.scripts.throughput`, alone on the device. The configurations take turns (A B C, A B C, ...),
so that a machine that slows down slows all of them; each is warmed up, synchronised, and timed for a bounded while.
"""

import json
import os
import time
from pathlib import Path

import pytest
import torch

from workflow.costs.library_solvers import use_library
from workflow.costs.synchronise import synchronise
from workflow.costs.trained_net import TrainedRun
from workflow.plan.scales import read_measure
from workflow.tasks.spec import TASKS, load
from workflow.training.origin import pick_device

WEIGHTS = os.environ.get("THROUGHPUT_WEIGHTS")
MEASURE = read_measure(os.environ["THROUGHPUT_MEASURE"]) if WEIGHTS else None
RUNS = [TrainedRun.at(Path(path)) for path in json.loads(WEIGHTS or "[]")]
TURNS = [
    (turn, kind, trained)
    for turn in range(MEASURE.passes if MEASURE else 0)
    for trained in RUNS
    for kind in trained.timed
]
IDS = [f"{turn}-{kind}-{trained.job.configuration}" for turn, kind, trained in TURNS]


@pytest.mark.skipif(not WEIGHTS, reason="needs trained nets: run python -m workflow.scripts.throughput")
@pytest.mark.parametrize("turn, kind, trained", TURNS, ids=IDS)
def test_throughput(benchmark, turn, kind, trained):
    device = pick_device(os.environ.get("THROUGHPUT_DEVICE", "auto"))
    job, net = trained.load(device)
    if kind.startswith("library"):
        use_library(net)
    torch.set_num_threads(job.training.threads)
    costs = load(TASKS[job.task].costs)
    if kind.endswith("train"):
        step, tokens = costs.training_step(job, net, device)
    else:
        step, tokens = costs.prediction(job, net, device, MEASURE.predict_batch)

    def synchronised():
        step()
        synchronise(device)

    synchronised()
    start = time.perf_counter()
    synchronised()
    rounds = max(3, min(200, int(MEASURE.seconds / (time.perf_counter() - start))))
    benchmark.extra_info.update(configuration=job.configuration, digest=job.digest, kind=kind, tokens=tokens)
    benchmark.pedantic(synchronised, rounds=rounds, iterations=1, warmup_rounds=1)
