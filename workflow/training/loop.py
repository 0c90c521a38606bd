"""The training loop, the same for every task and every variant.

The state of a run is in run.py, clipping and updates are in optimisers.py, the limits that end a
run early in failures.py.
"""

import math
import time
from collections.abc import Callable, Iterable

from torch import Tensor

from workflow.training.failures import check_loss, check_parameters, check_time
from workflow.training.run import Run

CHECK_EVERY = 16  # steps between checks of the loss: each waits for the device
SETTLED = 0.05  # share of the rate that is left once it has settled
FALLING = 0.7  # share of the updates until it has


def train(run: Run, may_go_on: Callable[[], None] = lambda: None) -> None:
    """Train a run from its step to its last; `may_go_on` is called before each and may raise.

    `failures.Ended` where the run diverges or its time is used up.
    """
    training = run.job.training
    began = time.perf_counter() - run.seconds
    run.model.train()
    while run.step < training.steps:
        with run.devices.raising_together():
            may_go_on()
            check_time(run.seconds, training.time_limit_s)
        start = time.perf_counter()
        run.step += 1
        is_last = run.step == training.steps

        loss = add_gradients(run.model, run.task.losses(run.forward))  # forward, loss, backward
        run.devices.average_gradients(run.parameters)
        run.optimiser.lr = learning_rate(
            run.step,
            lr=training.lr,
            warmup=training.warmup,
            schedule=training.schedule,
            steps=training.steps,
        )
        run.optimiser.step()  # clip, too: Adam clips the gradients, Adagrad its own step
        run.optimiser.forget_gradients()
        run.model.after_step()  # learned spans come back into their range
        run.log_loss(loss)

        if run.step % CHECK_EVERY == 0 or is_last:
            # waits for the device, which may be steps behind
            check_loss(run.mean_loss(), run.step, training.loss_bound)
        run.training_seconds += time.perf_counter() - start
        if run.step % training.evaluate_every == 0 or is_last:
            run.score_dev()
        run.task.after_step(run.model, run.step)  # which may average weights after the last
        run.seconds = time.perf_counter() - began
        if run.step % training.checkpoint_every == 0 or is_last:
            run.save()
    check_parameters(run.is_finite, run.step)
    run.is_trained = True


def add_gradients(model, parts: Iterable[tuple[Tensor, Tensor, float]]) -> Tensor:
    """Add the gradients of a batch's loss + penalty; return its mean log-loss in nats.

    parts: (loss, log-loss, weight) of each part of the batch; each is computed only when it is
    asked for. The weights add up to 1, so that penalties count once. On several devices they do so
    on average.
    """
    total: Tensor | float = 0.0
    for loss, log_loss, weight in parts:
        ((loss + model.penalty()) * weight).backward()
        total = total + log_loss.detach().double() * weight
    return total


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
        share = SETTLED + (1 - SETTLED) * falling
        return lr * share
    if schedule == "inverse_sqrt":
        share = math.sqrt(max(1, warmup) / step)
        return lr * share
    return lr


def _cosine(step: float, steps: float) -> float:
    """Fall from 1 at step 0 to 0 at `steps` and stay there."""
    progress = min(step, steps) / max(1, steps)
    return 0.5 * (1 + math.cos(math.pi * progress))
