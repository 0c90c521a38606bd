"""The optimisers of the released codes, each with its own clipping.

They stay ours, though torch.optim has an Adam and an Adagrad (measured with torch 2.13 on a CPU):
torch's Adam after `clip_grad_norm_` is 2.4e-7 away after 50 updates, and has the same bits only
through two private attributes of its gradient scaler; torch's Adagrad on clipped gradients is 0.54
away, as it accumulates other squares; and the first step of either imports torch's compiler, which
costs every run about a second.
"""

import torch
from torch import Tensor

from workflow.config.job import Training


class Optimiser:
    """Parameters, the rate `lr` of their next update, and what is kept of their gradients.

    clip: the bound of a norm; a subclass says of which.
    decay: an update first takes lr decay p from p (fairseq's weight decay).
    A parameter without a gradient stays.
    """

    averages: tuple[str, ...] = ()  # names of tensors of the shape of a parameter

    def __init__(self, parameters: list[Tensor], lr: float, clip: float, decay: float = 0.0):
        self.parameters = parameters
        self.lr = lr
        self.clip = clip
        self.decay = decay
        self.state: dict[str, list[Tensor]] = {}
        for name in self.averages:
            self.state[name] = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Clip and update all parameters that have a gradient."""
        rows = []
        for parameter, *state in zip(self.parameters, *self.state.values(), strict=True):
            if parameter.grad is not None:
                rows.append((parameter, parameter.grad, *state))
        # one list for each kind of tensor, as torch's operators on many tensors take them
        parameters, gradients, *state = (list(column) for column in zip(*rows, strict=True))
        if self.decay:
            torch._foreach_mul_(parameters, 1 - self.lr * self.decay)
        self.update(parameters, gradients, *state)

    def update(
        self, parameters: list[Tensor], gradients: list[Tensor], *state: list[Tensor]
    ) -> None:
        """Change the parameters in place."""
        raise NotImplementedError

    def forget_gradients(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def state_dict(self) -> dict[str, list[Tensor]]:
        return self.state

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        for name, tensors in self.state.items():
            for tensor, saved in zip(tensors, state[name], strict=True):
                tensor.copy_(saved)


class Adagrad(Optimiser):
    """Adagrad that clips its step (Adaptive Attention Span, section 3; released code).

        h += g^2;   step = lr g / (sqrt(h) + 1e-10);   times clip / (|g| + 1e-10) where |g| > clip

    |g| is the norm of one parameter tensor's gradient. The accumulator adds the unclipped square,
    so this is not Adagrad on clipped gradients, whose scale invariance would undo most of the
    clipping.
    """

    averages = ("sum",)

    def update(self, parameters, gradients, sums) -> None:
        # h += g^2, of the unclipped gradient
        torch._foreach_addcmul_(sums, gradients, gradients)
        # step = g / (sqrt(h) + 1e-10)
        roots = torch._foreach_sqrt(sums)
        torch._foreach_add_(roots, 1e-10)
        steps = torch._foreach_div(gradients, roots)
        # clip the step of each tensor by the norm of its gradient
        norms = torch.stack(torch._foreach_norm(gradients))
        factors = (self.clip / (norms + 1e-10)).clamp(max=1)
        torch._foreach_mul_(steps, list(factors.unbind()))
        torch._foreach_add_(parameters, steps, alpha=-self.lr)


class Adam(Optimiser):
    """Adam after clipping the global norm of the gradient (Transformer-XL, released code)."""

    averages = ("mean", "square")
    betas = (0.9, 0.999)
    epsilon = 1e-8

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        device = self.parameters[0].device
        # how many updates each parameter has had; one tensor, of which each row is a view
        self.updates = torch.zeros(len(self.parameters), dtype=torch.float32, device=device)
        self.state["updates"] = list(self.updates.unbind())

    def update(self, parameters, gradients, means, squares, updates) -> None:
        # of all parameters together
        norm = torch.stack(torch._foreach_norm(gradients)).norm()
        if len(updates) == len(self.parameters):
            self.updates.add_(1)
        else:
            torch._foreach_add_(updates, 1)
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            [],  # the largest squares, which only AMSGrad keeps
            updates,
            lr=self.lr,
            beta1=self.betas[0],
            beta2=self.betas[1],
            eps=self.epsilon,
            weight_decay=0.0,
            amsgrad=False,
            maximize=False,
            # what the update divides gradients by: more than 1 where they are too long
            grad_scale=((norm + 1e-6) / self.clip).clamp(min=1).float(),
        )


class Adam2017(Adam):
    """Adam with the constants of Attention Is All You Need, section 5.3."""

    betas = (0.9, 0.98)
    epsilon = 1e-9


OPTIMISERS = {"adagrad": Adagrad, "adam": Adam, "adam_2017": Adam2017}


def make_optimiser(training: Training, parameters: list[Tensor]) -> Optimiser:
    """Make the optimiser that the training section of a job names."""
    kind = OPTIMISERS[training.optimiser]
    return kind(parameters, training.lr, training.clip, training.decay)
