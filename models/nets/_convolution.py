"""A convolution whose sums have the order of our products where these are compiled: filters times
patches.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import unfold

from ..kernels.compiled.dense import Product, compiles, multiply
from ..kernels.no_double_backward import no_double_backward


class _Filtered(torch.autograd.Function):
    """W x for each picture: W: D F, x: B F L -> B D L; dW = sum dy x^T, dx = W^T dy."""

    @staticmethod
    def forward(ctx, weight, x):
        ctx.save_for_backward(weight, x)
        y = x.new_empty(len(x), len(weight), x.size(2))
        multiply(*(Product(weight, patches, out) for patches, out in zip(x, y, strict=True)))
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        weight, x = ctx.saved_tensors
        dy, dweight, dx = dy.contiguous(), weight.new_zeros(weight.shape), None
        multiply(
            *(
                Product(slope, patches.T, dweight, add=True)
                for slope, patches in zip(dy, x, strict=True)
            )
        )
        if ctx.needs_input_grad[1]:
            dx = x.new_empty(x.shape)
            turned = weight.T.contiguous()
            multiply(*(Product(turned, slope, out) for slope, out in zip(dy, dx, strict=True)))
        return dweight, dx


class Convolution(nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        """Convolve pictures B C H W -> B D H' W', as torch does."""
        if not compiles(x):
            return super().forward(x)
        patches = unfold(x, self.kernel_size, padding=self.padding, stride=self.stride)
        rows = (x.size(2) + 2 * self.padding[0] - self.kernel_size[0]) // self.stride[0] + 1
        y = _Filtered.apply(self.weight.flatten(1), patches) + self.bias[:, None]
        return y.unflatten(2, (rows, -1))
