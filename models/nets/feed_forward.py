"""The feed-forward layer (Attention Is All You Need, section 3.3): FF(x) = W2 dropout(relu(W1 x + b1)) + b2.

Compiled and without dropout, each pass is one call of the products, the relu done in place.
"""

import torch
from torch import Tensor, nn

from models.kernels.compiled.dense import Linear, Product, compiles, multiply
from models.kernels.no_double_backward import no_double_backward


class _Relu2(torch.autograd.Function):
    """x: n d -> W2 h + b2, h = relu(W1 x + b1).

    dh = dy W2 where h > 0;   dW2 = dy^T h;   dW1 = dh^T x;   dx = dh W1
    """

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2):
        h, y = x.new_empty(len(x), len(w1)), x.new_empty(len(x), len(w2))
        multiply(Product(x, w1.T, h, relu=True, bias=b1), Product(h, w2.T, y, bias=b2))
        ctx.save_for_backward(x, w1, w2, h)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        x, w1, w2, h = ctx.saved_tensors
        dx, (dh, dw1, dw2) = x.new_empty(x.shape), map(torch.empty_like, (h, w1, w2))
        multiply(Product(dy, w2, dh))
        torch.ops.aten.threshold_backward.grad_input(dh, h, 0, grad_input=dh)
        multiply(Product(dh, w1, dx), Product(dh.T, x, dw1), Product(dy.T, h, dw2))
        return dx, dw1, dh.sum(0), dw2, dy.sum(0)


class FeedForward(nn.Sequential):
    def __init__(self, d_model: int, d_ff: int, dropout: float):
        super().__init__(Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), Linear(d_ff, d_model))

    def forward(self, x: Tensor) -> Tensor:
        """.. d -> .. d"""
        first, _, drop, last = self
        if not (compiles(x) and torch.is_grad_enabled()) or (self.training and drop.p):
            return super().forward(x)
        y = _Relu2.apply(x.flatten(0, -2), first.weight, first.bias, last.weight, last.bias)
        return y.view(*x.shape[:-1], -1)
