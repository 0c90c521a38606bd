"""What a step asks of the net, shared by the loop and by whoever times or weighs a step."""

from contextlib import nullcontext

import torch
from torch import Tensor

from workflow.jobs import Training
from workflow.tasks import char_lm


def precision(training: Training, device: torch.device):
    """bf16 where the rung asks for it and there is a GPU; a CPU computes bf16 products 300 times slower."""
    half = training.precision == "bf16" and device.type == "cuda"
    return torch.autocast("cuda", torch.bfloat16) if half else nullcontext()


def gradients(net, training: Training, inputs: Tensor, targets: Tensor, past: list[Tensor]) -> tuple[Tensor, list]:
    """Add to the gradients those of loss + penalty on a batch (B T); its mean loss in nats, and the new memories.

    The streams of the batch are taken in `accumulate` parts, whose penalties count once in all.
    """
    parts, size = training.accumulate, training.batch // training.accumulate
    total, kept = torch.zeros((), dtype=torch.float64, device=inputs.device), []
    for part in range(parts):
        rows = slice(part * size, (part + 1) * size)
        with precision(training, inputs.device):
            logits, after = net(inputs[rows], [memory[:, rows] for memory in past])
        loss = char_lm.loss(logits, targets[rows])
        ((loss + net.penalty()) / parts).backward()
        total += loss.detach().double() / parts
        kept.append(after)
    return total, [torch.cat(memories, 1) for memories in zip(*kept, strict=True)] if parts > 1 else kept[0]
