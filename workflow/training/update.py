"""One update of a net: precision, gradients, and the optimisers and rates of the released codes.

The optimisers are not those of torch.optim, whose first import loads torch's compiler and costs
every run a second.
"""

import math
from contextlib import nullcontext

import torch
from torch import Tensor

from workflow.config.job import Training


def number_type(precision: str, device: torch.device) -> torch.dtype:
    """Return bf16 where a scale asks for it and there is a GPU; a CPU computes bf16 products 300
    times slower.
    """
    return torch.bfloat16 if precision == "bf16" and device.type == "cuda" else torch.float32


def precision(training: Training, device: torch.device):
    """Compute products in `number_type` while the context is entered; parameters keep 32 bits."""
    dtype = number_type(training.precision, device)
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype)


def in_full(logits: Tensor) -> Tensor:
    """Convert numbers of 16 bits to 32: sums of many small terms follow."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def add_gradients(net, losses) -> Tensor:
    """Add the gradients of a batch's loss + penalty to those of the parameters; return its mean
    log-loss in nats.

    `losses`: (loss, log-loss, weight) of each part of the batch; the weights add up to 1, so
    penalties count once. On several devices they do so on average.
    """
    total: Tensor | float = 0.0
    for loss, log_loss, weight in losses:
        ((loss + net.penalty()) * weight).backward()
        total = total + log_loss.detach().double() * weight
    return total


class Optimiser:
    """Parameters, the rate `lr` of their next update, and what is kept of their gradients.

    decay: an update first takes lr decay p from p (fairseq's weight decay). A parameter without a
    gradient stays.
    """

    averages: tuple[str, ...] = ()  # names of tensors of the shape of a parameter

    def __init__(self, parameters: list[Tensor], lr: float, clip: float, decay: float = 0.0):
        self.parameters, self.lr, self.clip, self.decay = parameters, lr, clip, decay
        self.state = {
            name: [torch.zeros_like(parameter) for parameter in parameters]
            for name in self.averages
        }

    @torch.no_grad()
    def step(self) -> None:
        states = zip(self.parameters, *self.state.values(), strict=True)
        rows = [
            (parameter, parameter.grad, *state)
            for parameter, *state in states
            if parameter.grad is not None
        ]
        parameters, gradients, *state = (list(column) for column in zip(*rows, strict=True))
        if self.decay:
            torch._foreach_mul_(parameters, 1 - self.lr * self.decay)
        self.update(parameters, gradients, *state)

    def update(
        self, parameters: list[Tensor], gradients: list[Tensor], *state: list[Tensor]
    ) -> None:
        raise NotImplementedError

    def forget_gradients(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def state_dict(self) -> dict:
        return self.state

    def load_state_dict(self, state: dict) -> None:
        for name, tensors in self.state.items():
            for tensor, saved in zip(tensors, state[name], strict=True):
                tensor.copy_(saved)


class Adagrad(Optimiser):
    """Adagrad whose step, not whose gradient, is clipped (Adaptive Attention Span, section 3;
    released code).

        h += g^2;   step = lr g / (sqrt(h) + 1e-10);   times clip / (|g| + 1e-10) where |g| > clip

    |g| is the norm of one parameter tensor's gradient. The accumulator adds the unclipped square,
    so this is not Adagrad on clipped gradients, whose scale invariance would undo most of the
    clipping.
    """

    averages = ("sum",)

    def update(self, parameters, gradients, sums) -> None:
        torch._foreach_addcmul_(sums, gradients, gradients)
        roots = torch._foreach_sqrt(sums)
        torch._foreach_add_(roots, 1e-10)
        steps = torch._foreach_div(gradients, roots)
        norms = torch.stack(torch._foreach_norm(gradients))
        factors = (self.clip / (norms + 1e-10)).clamp(max=1)
        torch._foreach_mul_(steps, list(factors.unbind()))
        torch._foreach_add_(parameters, steps, alpha=-self.lr)


class Adam(Optimiser):
    """Adam after clipping the global norm of the gradient (Transformer-XL, released code)."""

    averages = ("mean", "square")
    betas, epsilon = (0.9, 0.999), 1e-8

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.updates = torch.zeros(
            len(self.parameters), dtype=torch.float32, device=self.parameters[0].device
        )
        self.state["updates"] = list(self.updates.unbind())

    def update(self, parameters, gradients, means, squares, updates) -> None:
        norm = torch.stack(torch._foreach_norm(gradients)).norm()
        too_long = ((norm + 1e-6) / self.clip).clamp(min=1)  # the update divides gradients by it
        all_of_them = len(updates) == len(self.parameters)
        self.updates.add_(1) if all_of_them else torch._foreach_add_(updates, 1)
        constants = {
            "beta1": self.betas[0],
            "beta2": self.betas[1],
            "eps": self.epsilon,
            "weight_decay": 0.0,
        }
        settings = {
            "lr": self.lr,
            **constants,
            "amsgrad": False,
            "maximize": False,
            "grad_scale": too_long.float(),
        }
        torch._fused_adam_(parameters, gradients, means, squares, [], updates, **settings)


class Adam2017(Adam):
    """Adam with the constants of Attention Is All You Need, section 5.3."""

    betas, epsilon = (0.9, 0.98), 1e-9


SETTLED = 0.05  # what is left of the rate once it has settled
FALLING = 0.7  # share of the updates until it has

OPTIMISERS = {"adagrad": Adagrad, "adam": Adam, "adam_2017": Adam2017}


def learning_rate(step: int, *, lr: float, warmup: int, schedule: str, steps: int) -> float:
    """Return the rate of update `step` = 1 .. steps: linear warm-up to `lr`, then one of

    constant      lr
    cosine        a cosine to zero
    settling      a cosine to lr / 20 over .7 of the updates, then lr / 20. A cosine to zero brings
    most of its gain at
                  the very end, so its curve is never flat (docs/log.md)
    inverse_sqrt  lr sqrt(warmup / step) (Attention Is All You Need, equation 3, where lr = (d
    warmup)^-1/2)
    """
    if step <= warmup:
        return lr * (step / warmup)
    if schedule == "cosine":
        return lr * _cosine(step - warmup, steps - warmup)
    if schedule == "settling":
        return lr * (SETTLED + (1 - SETTLED) * _cosine(step - warmup, FALLING * steps - warmup))
    if schedule == "inverse_sqrt":
        return lr * math.sqrt(max(1, warmup) / step)
    return lr


def _cosine(step: float, steps: float) -> float:
    """Fall from 1 at step 0 to 0 at `steps` and stay there."""
    return 0.5 * (1 + math.cos(math.pi * min(step, steps) / max(1, steps)))


def make_optimiser(training: Training, parameters: list[Tensor]) -> Optimiser:
    """Make the optimiser that the training section of a job names."""
    return OPTIMISERS[training.optimiser](parameters, training.lr, training.clip, training.decay)
