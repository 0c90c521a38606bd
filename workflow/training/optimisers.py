"""Optimisers and schedules as the released codes have them."""

import math

import torch


class Adagrad(torch.optim.Optimizer):
    """Adagrad whose step, not whose gradient, is clipped (Adaptive Attention Span, section 3; released code).

        h += g^2;   step = lr g / (sqrt(h) + 1e-10);   times clip / (|g| + 1e-10) where |g| > clip

    |g| is the norm of one parameter tensor's gradient. The accumulator adds the unclipped square, so this is not
    Adagrad on clipped gradients, whose scale invariance would undo most of the clipping.
    """

    def __init__(self, parameters, lr: float, clip: float):
        super().__init__(parameters, {"lr": lr, "clip": clip})
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter]["sum"] = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            gradients = [parameter.grad for parameter in parameters]
            sums = [self.state[parameter]["sum"] for parameter in parameters]
            torch._foreach_addcmul_(sums, gradients, gradients)
            roots = torch._foreach_sqrt(sums)
            torch._foreach_add_(roots, 1e-10)
            steps = torch._foreach_div(gradients, roots)
            norms = torch.stack(torch._foreach_norm(gradients))
            factors = (group["clip"] / (norms + 1e-10)).clamp(max=1)
            torch._foreach_mul_(steps, list(factors.unbind()))
            torch._foreach_add_(parameters, steps, alpha=-group["lr"])


class Adam(torch.optim.Adam):
    """Adam after clipping the global norm of the gradient (Transformer-XL, released code)."""

    betas, epsilon = (0.9, 0.999), 1e-8

    def __init__(self, parameters, lr: float, clip: float):
        super().__init__(parameters, lr=lr, betas=self.betas, eps=self.epsilon)
        self.clip = clip

    def step(self, closure=None) -> None:
        torch.nn.utils.clip_grad_norm_(self.param_groups[0]["params"], self.clip)
        super().step()


class Adam2017(Adam):
    """Adam with the constants of Attention Is All You Need, section 5.3."""

    betas, epsilon = (0.9, 0.98), 1e-9


OPTIMISERS = {"adagrad": Adagrad, "adam": Adam, "adam_2017": Adam2017}


def learning_rate(step: int, *, lr: float, warmup: int, schedule: str, steps: int) -> float:
    """The rate of update `step` = 1 .. steps: linear warm-up to `lr`, then constant, a cosine to zero, or
    lr sqrt(warmup / step) (Attention Is All You Need, equation 3, where lr = (d warmup)^-1/2).
    """
    rate = lr * min(1.0, step / warmup) if warmup else lr
    if schedule == "cosine" and step > warmup:
        rate = lr * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))
    if schedule == "inverse_sqrt" and step > warmup:
        rate = lr * math.sqrt(max(1, warmup) / step)
    return rate
