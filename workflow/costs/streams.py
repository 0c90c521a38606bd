"""What is measured of a character model: a step, one more character, a block of evaluation."""

from collections.abc import Callable

import torch

from models import macs
from models.kernels.compiled import build
from workflow.costs.libraries import count_by_libraries
from workflow.costs.trained_net import random_block, update_step
from workflow.tasks.char_lm.streams import losses
from workflow.training.precision import precision


def training_step(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """Make a function that makes a training step with full caches; return it and the number of
    characters it reads.
    """
    symbols = net.embedding.weight.shape[0]
    tokens = random_block(job, symbols, device, block=job.training.block + 1)
    net.train()
    past = full_caches(job, net, device)

    def batch():
        nonlocal past
        past = yield from losses(net, job.training, tokens[:, :-1], tokens[:, 1:], past)

    return update_step(job.training, net, batch), job.training.batch * job.training.block


def prediction(job, net, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """Make a function that predicts one character of `batch` streams; return it and the number of
    characters.
    """
    return reading(job, net, device, batch, 1)


def evaluation(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """Make a function that reads one block as the job's evaluation does; return it and the number
    of characters.
    """
    return reading(job, net, device, job.evaluation.streams, job.evaluation.block)


def reading(
    job, net, device: torch.device, batch: int, block: int
) -> tuple[Callable[[], None], int]:
    """Make a function that reads `block` characters of `batch` streams from full caches; return it
    and their number.
    """
    net.eval()
    past = full_caches(job, net, device, batch)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch, block)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            net(tokens, past)

    return step, batch * block


def full_caches(job, net, device, batch: int | None = None) -> list:
    """Make caches as long as the layers keep them, in training or in evaluation, as the net is
    now.
    """
    with precision(job.training, device):
        return fill_caches(net, random_block(job, net.embedding.weight.shape[0], device, batch))


@torch.no_grad()
def fill_caches(net, tokens: torch.Tensor) -> list:
    """Fill the caches of streams B T that have long begun.

    The contents change no cost, so they are doubled rather than filled block by block: S / T blocks
    of S keys each would take longer than all that is measured.
    """
    past, longest = net.start(len(tokens)), -1
    while (size := sum(len(part) for parts in past for part in parts)) > longest:
        longest = size
        _, past = net(tokens, [tuple(torch.cat([part, part]) for part in parts) for parts in past])
    return past


class Flat(torch.nn.Module):
    """Passes the caches to the net as separate arguments, as tracing needs them."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens, *past):
        return self.net(tokens, list(past))[0]


def count(job, net, device: torch.device) -> dict:
    """Count multiply-accumulates per character of one block of one stream, by ours, torch's and
    fvcore's counters.
    """
    net.train()
    block = job.training.block
    past = full_caches(job, net, device, batch=1)
    tokens = random_block(job, net.embedding.weight.shape[0], device, batch=1)
    with torch.no_grad(), build.without():  # counters see torch's operators alone
        net(tokens, past)
    # before the counters: fvcore's tracing leaves tensors in place of the sizes that the layers
    # note
    of_layers = sum(macs.engine_macs(layer, block, layer.shapes) for layer in net.attentions)
    ours = of_layers / block + macs.outside_attention(net)
    return {"macs_analytic": ours, **count_by_libraries(Flat(net), (tokens, *past), block)}
