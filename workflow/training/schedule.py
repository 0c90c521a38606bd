"""The learning rate of each update: warm-up, then a schedule."""

import math

SETTLED = 0.05  # share of the rate that is left once it has settled
FALLING = 0.7  # share of the updates until it has


def learning_rate(step: int, *, lr: float, warmup: int, schedule: str, steps: int) -> float:
    """Return the rate of update `step` = 1 .. steps: linear warm-up to `lr`, then the schedule.

    constant      lr
    cosine        a cosine to zero
    settling      a cosine to lr / 20 over .7 of the updates, then lr / 20. A cosine to zero brings
                  most of its gain at the very end, so its curve is never flat (docs/log.md)
    inverse_sqrt  lr sqrt(warmup / step) (Attention Is All You Need, equation 3, where
                  lr = (d warmup)^-1/2)
    """
    if step <= warmup:
        return lr * (step / warmup)
    if schedule == "cosine":
        return lr * _cosine(step - warmup, steps - warmup)
    if schedule == "settling":
        falling = _cosine(step - warmup, FALLING * steps - warmup)
        return lr * (SETTLED + (1 - SETTLED) * falling)
    if schedule == "inverse_sqrt":
        return lr * math.sqrt(max(1, warmup) / step)
    return lr


def _cosine(step: float, steps: float) -> float:
    """Fall from 1 at step 0 to 0 at `steps` and stay there."""
    progress = min(step, steps) / max(1, steps)
    return 0.5 * (1 + math.cos(math.pi * progress))
