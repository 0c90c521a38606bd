"""What is measured of a character model: a step, one more character, a block of evaluation."""

from collections.abc import Callable

import torch

from models import macs
from models.kernels.compiled import build
from workflow.costs.counters import count_by_libraries
from workflow.costs.trained_net import random_block
from workflow.tasks.streams import losses
from workflow.training.update import add_gradients, make_optimiser, precision


def training_step(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """A function that makes one whole training step with full caches, and the characters it learns from."""
    symbols = net.embedding.weight.shape[0]
    tokens = random_block(job, symbols, device, block=job.training.block + 1)
    optimiser = make_optimiser(job.training, list(net.parameters()))
    optimiser.lr = 0.0  # the net stays what it is
    net.train()
    past = full_caches(job, net, device)

    def batch():
        nonlocal past
        past = yield from losses(net, job.training, tokens[:, :-1], tokens[:, 1:], past)

    def step() -> None:
        add_gradients(net, batch())
        optimiser.step()
        optimiser.forget_gradients()

    return step, job.training.batch * job.training.block


def prediction(job, net, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """A function that predicts one character of `batch` streams from full caches, and how many that is."""
    return reading(job, net, device, batch, 1)


def evaluation(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """A function that reads one block as the job's evaluation does, and the characters in it."""
    return reading(job, net, device, job.evaluation.streams, job.evaluation.block)


def reading(job, net, device: torch.device, batch: int, block: int) -> tuple[Callable[[], None], int]:
    """A function that reads `block` characters of `batch` streams after full caches, and how many that is."""
    net.eval()
    past = full_caches(job, net, device, batch)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch, block)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            net(tokens, past)

    return step, batch * block


@torch.no_grad()
def full_caches(job, net, device, batch: int | None = None) -> list:
    """Caches as long as the layers keep them, for the mode the net is in.

    Their contents change no cost, so they are doubled rather than filled block by block: S / T blocks of S keys each
    would take longer than all that is measured.
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
    """The net with its caches as separate arguments, as tracing needs them."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens, *past):
        return self.net(tokens, list(past))[0]


def count(job, net, device: torch.device) -> dict:
    """Multiply-accumulates per character of one block of one stream: ours, torch's, fvcore's."""
    net.train()
    block = job.training.block
    past = full_caches(job, net, device, batch=1)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch=1)
    with torch.no_grad(), build.without():  # counters see torch's operators alone
        net(tokens, past)
    # before the counters: fvcore's tracing leaves tensors in place of the sizes that the layers note
    of_layers = sum(macs.engine_macs(layer, block, layer.shapes) for layer in net.attentions)
    counted = count_by_libraries(Flat(net), (tokens, *past))
    return {
        "macs_analytic": of_layers / block + macs.outside_attention(net),
        "macs_torch": counted["macs_torch"] / block,
        "macs_fvcore": counted["macs_fvcore"] / block,
        "unsupported": counted["unsupported"],
    }
