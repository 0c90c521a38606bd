"""The feed-forward layer (Attention Is All You Need, section 3.3): FF(x) = W2 dropout(relu(W1 x + b1)) + b2.

On a CPU without dropout the backward pass is by hand: relu in place, and the gradient of the inner layer, its largest
tensor, in memory that all layers share (`scratch.py`).
"""

import torch
from torch import Tensor, nn

from models.attention.engine.scratch import SCRATCH
from models.kernels.no_double_backward import no_double_backward

LARGE = 1 << 18  # numbers of the inner layer: below, the Python costs more than it saves


class _Relu2(torch.autograd.Function):
    """x: n d -> W2 h + b2, h = relu(W1 x + b1).

    dh = dy W2 where h > 0;   dW2 = dy^T h;   dW1 = dh^T x;   dx = dh W1
    """

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2):
        h = torch.addmm(b1, x, w1.T).relu_()
        ctx.save_for_backward(x, w1, w2, h)
        return torch.addmm(b2, h, w2.T)

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        x, w1, w2, h = ctx.saved_tensors
        dh = torch.mm(dy, w2, out=SCRATCH.take("d_ff", h.shape, h))
        torch.ops.aten.threshold_backward.grad_input(dh, h, 0, grad_input=dh)
        return dh @ w1, dh.T @ x, dh.sum(0), dy.T @ h, dy.sum(0)


class FeedForward(nn.Sequential):
    def __init__(self, d_model: int, d_ff: int, dropout: float):
        super().__init__(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))

    def forward(self, x: Tensor) -> Tensor:
        """.. d -> .. d"""
        first, _, drop, last = self
        large = x.numel() // x.size(-1) * first.out_features >= LARGE
        by_hand = large and x.device.type == "cpu" and torch.is_grad_enabled() and not (self.training and drop.p)
        if not by_hand:
            return super().forward(x)
        y = _Relu2.apply(x.flatten(0, -2), first.weight, first.bias, last.weight, last.bias)
        return y.view(*x.shape[:-1], -1)
