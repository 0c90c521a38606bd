"""What is measured of a decoder of sequences of symbols: a step, a reading, an evaluation.

All at the longest training length. Symbols are random: what they say changes no cost.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from models import macs
from workflow.costs.libraries import count_by_libraries
from workflow.costs.trained_net import update_step
from workflow.tasks.symbols.catalogue import load_problem
from workflow.training.hardware import precision


def training_step(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Return a function that makes a training step, and its symbols."""
    symbols = _random(job, model, device, job.training.batch)
    model.train()

    def batch():
        with precision(job.training, device):
            logits = model(symbols)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), symbols.flatten())
        yield loss, loss, 1.0

    return update_step(job.training, model, batch), symbols.numel()


def prediction(job, model, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """Return a function that reads `batch` sequences, and their symbols."""
    model.eval()
    symbols = _random(job, model, device, batch)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            model(symbols)

    return step, symbols.numel()


def evaluation(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Return a function that reads as many symbols at once as the job's evaluation does."""
    length = _random(job, model, device, 1).size(1)
    at_once = max(1, job.evaluation.symbols // length)
    return prediction(job, model, device, at_once)


def count(job, model, device: torch.device) -> dict[str, float]:
    """Count MACs per symbol of one sequence, by three counters."""
    symbols = _random(job, model, device, 1)
    _, ours = macs.sequence(model, symbols)
    model.train()
    by_libraries = count_by_libraries(model, (symbols,), symbols.size(1))
    return {"macs_analytic": ours, **by_libraries}


def _random(job, model, device: torch.device, batch: int) -> Tensor:
    """Draw sequences as long as the problem's at the longest training length: B L."""
    drawn = load_problem(job.corpus).draw((0,), 1, job.training.longest)
    generator = torch.Generator().manual_seed(0)
    shape = (batch, drawn.inputs.shape[1])
    return torch.randint(len(model.embedding.weight), shape, generator=generator).to(device)
