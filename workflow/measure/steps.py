"""The two things that are timed and weighed: a training step, and the prediction of one more character."""

from collections.abc import Callable

import torch

from workflow.measure.subject import random_block
from workflow.tasks.char_lm import loss
from workflow.training.optimisers import OPTIMISERS


def training_step(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """A function that makes one whole training step with full memories, and the characters it learns from."""
    symbols = net.embedding.weight.shape[0]
    tokens = random_block(job, symbols, device, block=job.training.block + 1)
    optimiser = OPTIMISERS[job.training.optimiser](list(net.parameters()), 0.0, job.training.clip)
    net.train()
    state = {"past": full_memories(job, net, device)}

    def step() -> None:
        logits, state["past"] = net(tokens[:, :-1], state["past"])
        (loss(logits, tokens[:, 1:]) + net.penalty()).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step, job.training.batch * job.training.block


def prediction(job, net, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """A function that predicts one character of `batch` streams from full memories, and how many that is."""
    symbols = net.embedding.weight.shape[0]
    net.eval()
    with torch.no_grad():
        past = full_memories(job, net, device, batch)
    token = random_block(job, symbols, device, batch, 1)

    @torch.no_grad()
    def step() -> None:
        net(token, past)

    return step, batch


@torch.no_grad()
def full_memories(job, net, device, batch: int | None = None) -> list:
    """Memories as long as the layers keep them, for the mode the net is in.

    What stands in them changes no cost, so they are doubled rather than filled block by block: S / T blocks of S keys
    each would take longer than all that is measured.
    """
    symbols = net.embedding.weight.shape[0]
    past, longest = net.start(batch or job.training.batch), -1
    block = random_block(job, symbols, device, batch)
    while (size := sum(memory.size(2) for memory in past)) > longest:
        longest = size
        _, past = net(block, [torch.cat([memory, memory], 2) for memory in past])
    return past
