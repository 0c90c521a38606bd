"""The engine beside its definition, through pytest-benchmark: training steps, attention alone, one character more.

Run by `python -m workflow.scripts.engine`, alone on the device, all in one process with the same allocator. The cells
take turns, so that a machine that slows down slows all of them, and the product that the floor is measured in is one
of them. The definition takes seconds a step: one round a turn; the others, warmed up, fill half a second.
"""

import os
import time

import pytest
import torch

from workflow.measure.engine_cells import cells, made
from workflow.rungs import Engine

HOW = os.environ.get("ENGINE_HOW")
DEVICE = os.environ.get("ENGINE_DEVICE", "cpu")
SECONDS, MOST = 0.5, 50
TURNS = (
    [
        (turn, cell)
        for turn in range(Engine.model_validate_json(HOW).rounds)
        for cell in cells(Engine.model_validate_json(HOW))
    ]
    if HOW
    else []
)


@pytest.mark.skipif(not HOW, reason="needs sizes: run python -m workflow.scripts.engine")
@pytest.mark.parametrize("turn, cell", TURNS, ids=[f"{turn}-{cell}" for turn, cell in TURNS])
def test_engine(benchmark, turn, cell):
    torch.set_num_threads(Engine.model_validate_json(HOW).threads)
    work = made(HOW, cell, DEVICE)

    def synchronised():
        work()
        if DEVICE == "cuda":
            torch.cuda.synchronize()

    rounds = 1
    if cell.way == "engine":
        start = time.perf_counter()
        synchronised()
        rounds = max(1, min(MOST, int(SECONDS / (time.perf_counter() - start))))
    benchmark.extra_info.update(what=cell.what, name=cell.name, S=cell.S, way=cell.way)
    benchmark.pedantic(synchronised, rounds=rounds, iterations=1)
