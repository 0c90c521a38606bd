"""What is measured of an encoder and decoder: an update, decoding a batch, reading one pair.

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
from workflow.training.hardware import precision

LENGTH = 24  # pieces of source and of target: about the mean of the papers' corpora


def training_step(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Return a function that makes one update, and the number of target pieces it learns from."""
    training = job.training
    length = _length(job)
    # as many as fill a batch of `tokens` pieces
    sentences = max(1, training.tokens // length)
    batches = []
    for _ in range(training.accumulate):
        batches.append(_random_batch(job, model, sentences, length, device))
    step = update_step(training, model, lambda: losses(model, training, batches))
    # the first piece of a target is given, not learned
    pieces = sum(target[:, 1:].numel() for _, target in batches)
    return step, pieces


def prediction(job, model, device: torch.device, batch: int) -> tuple[Callable[[], None], int]:
    """Return a function that decodes `batch` sentences with the job's beam, and their pieces."""
    model.eval()
    length = _length(job)
    source, target = _random_batch(job, model, batch, length, device)
    # the source of each beam
    rows = torch.arange(batch, device=device).repeat_interleave(job.evaluation.beam)

    @torch.no_grad()
    def step() -> None:
        with precision(job.training, device):
            state = model.encode(source)
            state = state.rows(rows)
            for position in range(length):
                pieces = target[rows, position]
                _, state = model.step(pieces, state)
                # as beams are kept or given up
                every = torch.arange(len(rows), device=device)
                state = state.rows(every)

    return step, batch * length


def evaluation(job, model, device: torch.device) -> tuple[Callable[[], None], int]:
    """Do as `prediction`, with as many sentences as the job's evaluation decodes side by side."""
    return prediction(job, model, device, job.evaluation.batch)


def count(job, model, device: torch.device) -> dict:
    """Count MACs per target piece of one pair, by ours, torch's and fvcore's counters."""
    model.train()
    length = _length(job)
    source, target = _random_batch(job, model, 1, length, device)
    inputs = target[:, :-1]
    pieces = inputs.size(1)
    _, visible = model.enter(source)  # B N: pieces of the source, or parts of a picture
    read = visible.size(1)
    ours = macs.pair(model, read, pieces)
    by_libraries = count_by_libraries(model, (source, inputs), pieces)
    return {"macs_analytic": ours, **by_libraries}


def _length(job) -> int:
    return min(LENGTH, job.net.max_length)


def _random_batch(job, model, batch: int, length: int, device: torch.device):
    """Draw sources (sentences B N, or pictures) and targets B T + 1, none with padding."""
    symbols = model.embedding.weight.shape[0]
    generator = torch.Generator()
    generator.manual_seed(0)
    shape = (batch, length + 1)
    # the tokens up to <eos> are none that a sentence holds
    target = torch.randint(EOS + 1, symbols, shape, generator=generator)
    target[:, 0] = BOS
    spec = TASKS[job.task]
    task = load(spec.runner)
    source = task.random_sources(job, batch, length, symbols, generator)
    return source.to(device), target.to(device)
