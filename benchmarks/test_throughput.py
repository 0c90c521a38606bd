"""Turns of the configurations of a group, through pytest-benchmark: a training step and one more
character. Sparse normalisers are timed by our solvers and by the library's.

Run by `python -m workflow.scripts.throughput`, alone on the device. The configurations take turns
(A B C, A B C, ...); each is warmed up, synchronised and timed for a bounded while, between
reference steps that say how fast the machine is.
"""

import json
import os
from pathlib import Path
from statistics import median

import pytest

from models.kernels.compiled.build import fix_sums
from workflow.costs.libraries import use_library
from workflow.costs.timing import count_rounds, reference_step, time_reference
from workflow.costs.trained_net import TrainedRun
from workflow.results.makers import code_of
from workflow.settings.scales import read_measure
from workflow.tasks.spec import TASKS, load
from workflow.training.backends import chosen
from workflow.training.hardware import pick_device, synchronise

ASKED = os.environ.get("THROUGHPUT_TURNS")
MEASURE = read_measure(os.environ["THROUGHPUT_MEASURE"]) if ASKED else None
TURNS = [(kind, TrainedRun.at(Path(path))) for kind, path in json.loads(ASKED or "[]")]
IDS = [
    f"{number}-{kind}-{trained.job.configuration}" for number, (kind, trained) in enumerate(TURNS)
]


@pytest.mark.skipif(
    not ASKED, reason="needs trained nets: run python -m workflow.scripts.throughput"
)
@pytest.mark.parametrize("kind, trained", TURNS, ids=IDS)
def test_throughput(benchmark, kind, trained):
    device = pick_device(os.environ.get("THROUGHPUT_DEVICE", "auto"))
    job, net = trained.load(device, os.environ.get("THROUGHPUT_BACKEND", "auto"))
    if kind.startswith("library"):
        use_library(net)
    fix_sums(job.training.threads)
    costs = load(TASKS[job.task].costs)
    reference = reference_step(device)
    if kind.endswith("train"):
        step, tokens = costs.training_step(job, net, device)
    else:
        step, tokens = costs.prediction(job, net, device, MEASURE.predict_batch)

    def synchronised():
        step()
        synchronise(device)

    rounds = count_rounds(MEASURE.seconds, synchronised, device)
    references = time_reference(reference, device)
    benchmark.pedantic(synchronised, rounds=rounds, iterations=1, warmup_rounds=1)
    # Before and after: what else the machine did in between shows in neither alone.
    references += time_reference(reference, device)
    benchmark.extra_info.update(
        configuration=job.configuration,
        kind=kind,
        threads=job.training.threads,
        tokens=tokens,
        reference=median(references),
        backend=code_of(chosen(net)),
    )
