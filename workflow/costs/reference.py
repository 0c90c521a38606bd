"""The reference step: a small training step of plain torch that depends on nothing of the nets that are timed.

Timed before and after every turn, it says how fast the machine was just then.
"""

import time
from collections.abc import Callable
from statistics import median

import torch

from workflow.costs.synchronise import synchronise

STREAMS, LENGTH, WIDTH, LAYERS = 4, 96, 128, 6  # 8 ms on one core of a server of 2023
ROUNDS = 4  # steps before a turn, and after it
BLOCKS, PAUSE = 20, 0.1  # of so many blocks of steps, seconds apart, the fastest is of the quiet machine
SLOW = 1.15  # over its time on the quiet machine, from which on the machine was not quiet


def reference_step(device: torch.device) -> Callable[[], object]:
    """Attention without projections of its own, layer upon layer, forward and back; the same numbers every time."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(STREAMS, LENGTH, WIDTH, generator=draw).to(device)
    weights = [(torch.randn(WIDTH, WIDTH, generator=draw) / WIDTH**0.5).to(device) for _ in range(LAYERS)]
    weights = [weight.requires_grad_() for weight in weights]

    def step():
        x = inputs
        for weight in weights:
            keys = x @ weight
            scores = keys @ keys.transpose(1, 2) / WIDTH**0.5
            x = torch.tanh(x + scores.softmax(-1) @ keys)
        return torch.autograd.grad(x.square().mean(), weights)

    return step


def time_reference(step: Callable[[], object], device: torch.device) -> list[float]:
    """Milliseconds of `ROUNDS` steps, after one that warms up."""
    spent = []
    for _ in range(1 + ROUNDS):
        synchronise(device)
        start = time.perf_counter()
        step()
        synchronise(device)
        spent.append(1000 * (time.perf_counter() - start))
    return spent[1:]


def quiet_time(threads: int, device: torch.device) -> float:
    """Milliseconds on the machine as it is when nothing disturbs it: the fastest of some blocks, each by its median."""
    torch.set_num_threads(threads)
    step, blocks = reference_step(device), []
    for _ in range(BLOCKS):
        time.sleep(PAUSE)
        blocks.append(median(time_reference(step, device)))
    return min(blocks)
