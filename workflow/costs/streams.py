"""What is timed, weighed and counted of a character model: a step, one more character, a block of evaluation."""

from collections.abc import Callable

import torch

from workflow.costs import graph
from workflow.costs.counters import counted
from workflow.costs.trained_net import random_block
from workflow.tasks.streams import losses
from workflow.training.gradients import gradients, precision
from workflow.training.optimisers import optimiser_of


def training_step(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """A function that makes one whole training step with full memories, and the characters it learns from."""
    symbols = net.embedding.weight.shape[0]
    tokens = random_block(job, symbols, device, block=job.training.block + 1)
    optimiser = optimiser_of(job.training, list(net.parameters()))
    optimiser.lr = 0.0  # the net stays what it is
    net.train()
    past = full_memories(job, net, device)

    def batch():
        nonlocal past
        past = yield from losses(net, job.training, tokens[:, :-1], tokens[:, 1:], past)

    def step() -> None:
        gradients(net, batch())
        optimiser.step()
        optimiser.forget_gradients()

    return step, job.training.batch * job.training.block


def prediction(job, net, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """A function that predicts one character of `batch` streams from full memories, and how many that is."""
    return reading(job, net, device, batch, 1)


def evaluation(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """A function that reads one block as the job's evaluation does, and the characters in it."""
    return reading(job, net, device, job.evaluation.streams, job.evaluation.block)


def reading(job, net, device: torch.device, batch: int, block: int) -> tuple[Callable[[], None], int]:
    """A function that reads `block` characters of `batch` streams after full memories, and how many that is."""
    net.eval()
    past = full_memories(job, net, device, batch)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch, block)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            net(tokens, past)

    return step, batch * block


@torch.no_grad()
def full_memories(job, net, device, batch: int | None = None) -> list:
    """Memories as long as the layers keep them, for the mode the net is in.

    What stands in them changes no cost, so they are doubled rather than filled block by block: S / T blocks of S keys
    each would take longer than all that is measured.
    """
    symbols = net.embedding.weight.shape[0]
    past, longest = net.start(batch or job.training.batch), -1
    block = random_block(job, symbols, device, batch)
    while (size := sum(len(part) for parts in past for part in parts)) > longest:
        longest = size
        with precision(job.training, device):
            _, past = net(block, [tuple(torch.cat([part, part]) for part in parts) for parts in past])
    return past


class Flat(torch.nn.Module):
    """The net with its memories as separate arguments, as tracing wants them."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens, *past):
        return self.net(tokens, list(past))[0]


def count(job, net, device: torch.device) -> dict:
    """Multiply-accumulates per character of one block of one stream: ours, torch's, fvcore's."""
    net.train()
    block = job.training.block
    past = full_memories(job, net, device, batch=1)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch=1)
    with torch.no_grad():
        net(tokens, past)
    # before the counters: fvcore's tracing leaves tensors in place of the sizes that the layers note
    layers = sum(graph.engine_macs(layer, block, layer.shapes) for layer in net.attentions)
    found = counted(Flat(net), (tokens, *past))
    return {
        "macs_analytic": layers / block + graph.outside_attention(net),
        "macs_torch": found["macs_torch"] / block,
        "macs_fvcore": found["macs_fvcore"] / block,
        "unsupported": found["unsupported"],
    }
