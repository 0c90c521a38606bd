"""What a backward pass by hand cannot do."""

from functools import wraps

import torch


def once(backward):
    """Refuses a second derivative, RuntimeError: torch's `once_differentiable` lets through those parts of it that
    do not lead back here.
    """

    @wraps(backward)
    def refusing(ctx, *gradients):
        if torch.is_grad_enabled():
            raise RuntimeError("this backward pass is by hand: it has no second derivative (create_graph)")
        return backward(ctx, *gradients)

    return refusing
