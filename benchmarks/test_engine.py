"""The engine beside its definition, through pytest-benchmark: training steps, attention alone, one character more.

Run by `python -m workflow.scripts.engine`, alone on the device, all in one process with the same allocator. The cases
take turns, so that a machine that slows down slows all of them, and the product that the floor is measured in is among
them. All are warmed up. The definition, which takes seconds a step, has one round, the others a second a turn.
"""

import os
import time

import pytest
import torch

from models.attention.engine.engine import Engine
from workflow.costs.engine_cases import cases, work_of
from workflow.costs.synchronise import synchronise
from workflow.plan.scales import Engine as Sizes

GIVEN = os.environ.get("ENGINE_SIZES")
ONLY = os.environ.get("ENGINE_ONLY", "")  # cases of one kind
DEVICE = os.environ.get("ENGINE_DEVICE", "cpu")
SECONDS, FEWEST, MOST = 1.2, 3, 50
SIZES = Sizes.model_validate_json(GIVEN) if GIVEN else None
TURNS = [
    (turn, case)
    for turn in range(SIZES.rounds if SIZES else 0)
    for case in cases(SIZES)
    if (not ONLY or case.what == ONLY) and (turn == 0 or case.implementation == "engine")
]


@pytest.mark.skipif(not GIVEN, reason="needs sizes: run python -m workflow.scripts.engine")
@pytest.mark.parametrize("turn, case", TURNS, ids=[f"{turn}-{case}" for turn, case in TURNS])
def test_engine(benchmark, turn, case):
    torch.set_num_threads(SIZES.threads)
    engine = Engine()
    work = work_of(GIVEN, case, DEVICE, engine)

    def synchronised():
        work()
        synchronise(torch.device(DEVICE))

    start = time.perf_counter()
    synchronised()
    fits = int(SECONDS / (time.perf_counter() - start))
    rounds = max(FEWEST, min(MOST, fits)) if case.implementation == "engine" else 1
    benchmark.extra_info.update(vars(case), chosen=sorted(engine.backend.counts_in_words()))
    benchmark.pedantic(synchronised, rounds=rounds, iterations=1)
