"""For backward passes written by hand, which have no second derivative."""

from functools import wraps

import torch


def no_double_backward(backward):
    """Decorate the `backward` of an autograd function: under create_graph it raises RuntimeError.

    torch's `once_differentiable` would let through the parts of a second derivative that do not
    lead back here.
    """

    @wraps(backward)
    def refusing(ctx, *gradients):
        if torch.is_grad_enabled():
            raise RuntimeError(
                "this backward pass is written by hand and has no second derivative (create_graph)"
            )
        return backward(ctx, *gradients)

    return refusing
