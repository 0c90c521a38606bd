"""The engine beside its definition, through pytest-benchmark: training steps, attention alone, one character more.

Run by `python -m workflow.scripts.engine`, alone on the device, all in one process with the same allocator. The cells
take turns, so that a machine that slows down slows all of them, and the product that the floor is measured in is one
of them. All are warmed up. The definition, which takes seconds a step, has one round, the others half a second a turn.
"""

import os
import time

import pytest
import torch

from models.attention.engine import backend as dispatch
from workflow.costs.engine_cases import cases, made
from workflow.plan.scales import Engine

HOW = os.environ.get("ENGINE_HOW")
DEVICE = os.environ.get("ENGINE_DEVICE", "cpu")
SECONDS, MOST = 1.2, 50
SIZES = Engine.model_validate_json(HOW) if HOW else None
TURNS = [
    (turn, case)
    for turn in range(SIZES.rounds if SIZES else 0)
    for case in cases(SIZES)
    if turn == 0 or case.way == "engine"
]


@pytest.mark.skipif(not HOW, reason="needs sizes: run python -m workflow.scripts.engine")
@pytest.mark.parametrize("turn, cell", TURNS, ids=[f"{turn}-{case}" for turn, case in TURNS])
def test_engine(benchmark, turn, case):
    torch.set_num_threads(SIZES.threads)
    work = made(HOW, case, DEVICE)

    def synchronised():
        work()
        if DEVICE == "cuda":
            torch.cuda.synchronize()

    dispatch.NOTED.clear()
    start = time.perf_counter()
    synchronised()
    fits = int(SECONDS / (time.perf_counter() - start)) if case.way == "engine" else 1
    told = {"what": case.what, "name": case.name, "S": case.S, "way": case.way, "chosen": sorted(dispatch.told())}
    benchmark.extra_info.update(told)
    benchmark.pedantic(synchronised, rounds=max(1, min(MOST, fits)), iterations=1)
