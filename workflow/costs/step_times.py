"""Steps as they are measured here: time in turns, memory in processes of their own, and the machine's own rates.

On a CPU a step runs on one thread and its processor time counts, so that what else the machine does is left out.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median

import torch

from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.predicted_nets import training_step
from workflow.costs.roofline import Rates
from workflow.costs.synchronise import synchronise
from workflow.plan.plan import PlanRow
from workflow.training.origin import pick_device

TURNS, WARM, ROUNDS = 3, 2, 4
SIDE, COPIED = 2048, 1 << 26  # of the product, and numbers of the copy, by which a machine's rates are measured


def clock(device: torch.device) -> float:
    """Seconds: of this process on a CPU; until all is done on a GPU."""
    synchronise(device)
    return time.process_time() if device.type == "cpu" else time.perf_counter()


def fastest(work: Callable[[], object], rounds: int, device: torch.device) -> float:
    """Seconds of the fastest of some rounds: whatever disturbs makes a round slower."""
    spent = []
    for _ in range(rounds):
        start = clock(device)
        work()
        spent.append(clock(device) - start)
    return min(spent)


def machine_rates(device: torch.device) -> Rates:
    """A large product and a large copy, in 32 bits. launch: nothing, for it is fitted."""
    a, x = torch.rand(SIDE, SIDE, device=device), torch.rand(COPIED, device=device)
    product, y = torch.empty_like(a), torch.empty_like(x)
    multiply, copy = (lambda: torch.mm(a, a, out=product)), (lambda: y.copy_(x))
    products = 2 * SIDE**3 / fastest(multiply, ROUNDS, device)
    return Rates(products, 2 * x.nbytes / fastest(copy, ROUNDS, device), 0.0)


def time_steps(rows: Sequence[PlanRow], device: torch.device) -> list[float]:
    """Seconds of a training step of each row: the median over turns, of each turn's fastest round."""
    turns: list[list[float]] = [[] for _ in rows]
    for _ in range(TURNS):
        for row, spent in zip(rows, turns, strict=True):
            step = training_step(row, device)
            for _ in range(WARM):
                step()
            spent.append(fastest(step, ROUNDS, device))
    return list(map(median, turns))


def weigh_steps(rows: Sequence[PlanRow], device: str) -> list[int | None]:
    """Bytes at the peak of two steps; None where it could not be measured."""
    return [in_fresh_process(_peak, row, device).get("bytes") for row in rows]


def _peak(row: PlanRow, device: str) -> dict:
    on = pick_device(device)
    return peak_memory(lambda: (training_step(row, on), None), on, 1)
