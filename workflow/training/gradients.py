"""The precision and the gradients of a training step, shared by the loop and by what measures a step."""

from contextlib import nullcontext

import torch
from torch import Tensor

from workflow.config.job_schema import Training


def precision(training: Training, device: torch.device):
    """bf16 where the scale asks for it and there is a GPU; a CPU computes bf16 products 300 times slower."""
    half = training.precision == "bf16" and device.type == "cuda"
    return torch.autocast("cuda", torch.bfloat16) if half else nullcontext()


def add_gradients(net, losses) -> Tensor:
    """Add the gradients of a batch's loss + penalty to those of the parameters; returns its mean log-loss in nats.

    `losses`: (loss, log-loss, weight) of each part of the batch; the weights add up to 1, so penalties count once.
    """
    total: Tensor | float = 0.0
    for loss, log_loss, weight in losses:
        ((loss + net.penalty()) * weight).backward()
        total = total + log_loss.detach().double() * weight
    return total
