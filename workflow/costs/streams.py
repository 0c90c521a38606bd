"""What is measured of a character model: a step, one more character, a block of evaluation."""

from collections.abc import Callable

import torch

from models import macs
from models.kernels.compiled import build
from workflow.costs.libraries import count_by_libraries
from workflow.costs.trained_net import random_block, update_step
from workflow.tasks.char_lm.streams import losses
from workflow.training.hardware import precision


def training_step(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Return a function that makes a training step with full caches, and its characters."""
    training = job.training
    tokens = random_block(job, _symbols(model), device, block=training.block + 1)
    inputs = tokens[:, :-1]
    targets = tokens[:, 1:]
    model.train()
    past = full_caches(job, model, device)

    def batch():
        nonlocal past
        past = yield from losses(model, training, inputs, targets, past)

    return update_step(training, model, batch), training.batch * training.block


def prediction(job, model, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """Return a function that predicts one character of `batch` streams, and their number."""
    return reading(job, model, device, batch, block=1)


def evaluation(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Return a function that reads one block as the job's evaluation does, and its characters."""
    return reading(job, model, device, job.evaluation.streams, job.evaluation.block)


def reading(
    job, model, device: torch.device, batch: int, block: int
) -> tuple[Callable[[], None], int]:
    """Return a function that reads `block` characters of `batch` streams, and their number."""
    model.eval()
    past = full_caches(job, model, device, batch)
    tokens = random_block(job, _symbols(model), device, batch, block)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            model(tokens, past)

    return step, batch * block


def full_caches(job, model, device, batch: int | None = None) -> list:
    """Make caches as long as the layers keep them, in the mode that the model is in."""
    tokens = random_block(job, _symbols(model), device, batch)
    with precision(job.training, device):
        return fill_caches(model, tokens)


def _symbols(model) -> int:
    return model.embedding.weight.shape[0]


@torch.no_grad()
def fill_caches(model, tokens: torch.Tensor) -> list:
    """Fill the caches of streams B T that have long begun.

    The contents change no cost, so they are doubled rather than filled block by block: S / T blocks
    of S keys each would take longer than all that is measured.
    """
    past = model.start(len(tokens))
    longest = -1
    while _length(past) > longest:
        longest = _length(past)
        doubled = [_double(parts) for parts in past]
        _, past = model(tokens, doubled)
    return past


def _double(parts: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Put the cache of a layer behind itself; its first dimension is time."""
    return tuple(torch.cat([part, part]) for part in parts)


def _length(past: list) -> int:
    """Add up the lengths of all caches."""
    length = 0
    for parts in past:
        length += sum(map(len, parts))
    return length


class Flat(torch.nn.Module):
    """Passes the caches to the model as separate arguments, as tracing needs them."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, *past):
        logits, _ = self.model(tokens, list(past))
        return logits


def count(job, model, device: torch.device) -> dict:
    """Count MACs per character of one block of one stream, by three counters."""
    # before the libraries count: fvcore leaves tensors in place of the sizes that the layers note
    ours = count_macs(job, model, device)
    past = full_caches(job, model, device, batch=1)
    tokens = random_block(job, _symbols(model), device, batch=1)
    by_libraries = count_by_libraries(Flat(model), (tokens, *past), job.training.block)
    return {"macs_analytic": ours, **by_libraries}


def count_macs(job, model, device: torch.device) -> float:
    """Count MACs per character of one block of one stream, from shapes."""
    model.train()
    past = full_caches(job, model, device, batch=1)
    tokens = random_block(job, _symbols(model), device, batch=1)
    # without the compiled library, as the counters that check it see torch's operators alone
    with torch.no_grad(), build.without():
        model(tokens, past)
    block = job.training.block
    return macs.of_last_block(model, block) / block + macs.outside_attention(model)
