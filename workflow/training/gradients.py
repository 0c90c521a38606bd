"""The precision and the gradients of a training step, shared by the loop and by what measures a step."""

from contextlib import nullcontext

import torch
from torch import Tensor

from workflow.config.job import Training


def number_type(training: Training, device: torch.device) -> torch.dtype:
    """bf16 where the scale asks for it and there is a GPU; a CPU computes bf16 products 300 times slower."""
    return torch.bfloat16 if training.precision == "bf16" and device.type == "cuda" else torch.float32


def precision(training: Training, device: torch.device):
    """Entered, products are computed in `number_type`; parameters keep 32 bits."""
    dtype = number_type(training, device)
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype)


def in_full(logits: Tensor) -> Tensor:
    """Numbers of 16 bits as 32: sums of many small terms follow."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def add_gradients(net, losses) -> Tensor:
    """Add the gradients of a batch's loss + penalty to those of the parameters; returns its mean log-loss in nats.

    `losses`: (loss, log-loss, weight) of each part of the batch; the weights add up to 1, so penalties count once.
    On several devices they do so on average.
    """
    total: Tensor | float = 0.0
    for loss, log_loss, weight in losses:
        ((loss + net.penalty()) * weight).backward()
        total = total + log_loss.detach().double() * weight
    return total
