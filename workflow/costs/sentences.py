"""What is measured of a net with encoder and decoder: an update, the decoding of a batch, and one
pair read once.

Costs do not depend on what sentences say or pictures show, so both are random, and all of one
length.
"""

from collections.abc import Callable

import torch

from models import macs
from models.nets.seq2seq import BOS, EOS
from workflow.costs.libraries import count_by_libraries
from workflow.costs.trained_net import update_step
from workflow.tasks.batches import losses
from workflow.tasks.spec import TASKS, load
from workflow.training.precision import precision

LENGTH = 24  # pieces of source and of target: about the mean of the papers' corpora


def training_step(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """Make a function that makes one whole update; return it and the number of target pieces it
    learns from.
    """
    training, length = job.training, min(LENGTH, job.net.max_length)
    batches = [
        _random_batch(job, net, max(1, training.tokens // length), length, device)
        for _ in range(training.accumulate)
    ]
    step = update_step(training, net, lambda: losses(net, training, batches))
    return step, sum(target[:, 1:].numel() for _, target in batches)


def prediction(job, net, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """Make a function that decodes `batch` sentences with the job's beam; return it and the number
    of pieces.
    """
    net.eval()
    length, width = min(LENGTH, job.net.max_length), job.evaluation.beam
    source, target = _random_batch(job, net, batch, length, device)
    rows = torch.arange(batch, device=device).repeat_interleave(width)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            state = net.encode(source).rows(rows)
            for position in range(length):
                _, state = net.step(target[rows, position], state)
                # as beams are kept or given up
                state = state.rows(torch.arange(len(rows), device=device))

    return step, batch * length


def evaluation(job, net, device: torch.device) -> tuple[Callable[[], None], int]:
    """Do as `prediction`, with as many sentences as the job's evaluation decodes side by side."""
    return prediction(job, net, device, job.evaluation.batch)


def count(job, net, device: torch.device) -> dict:
    """Count multiply-accumulates per target piece of one pair of sentences, by ours, torch's and
    fvcore's counters.
    """
    net.train()
    source, target = _random_batch(job, net, 1, min(LENGTH, job.net.max_length), device)
    inputs = target[:, :-1]
    counted = count_by_libraries(net, (source, inputs), inputs.size(1))
    return {
        "macs_analytic": macs.pair(net, net.enter(source)[1].size(1), inputs.size(1)),
        **counted,
    }


def _random_batch(job, net, batch: int, length: int, device: torch.device):
    """Draw sources (sentences B N, or pictures) and targets B T + 1, none with padding."""
    symbols, generator = net.embedding.weight.shape[0], torch.Generator().manual_seed(0)
    target = torch.randint(EOS + 1, symbols, (batch, length + 1), generator=generator)
    source = load(TASKS[job.task].runner).random_sources(job, batch, length, symbols, generator)
    target[:, 0] = BOS
    return source.to(device), target.to(device)
