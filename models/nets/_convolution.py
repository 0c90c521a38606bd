"""A convolution as filters times patches, so that its sums have the order of our products.

Where these are compiled; else it is torch's.
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
        B, _, L = x.shape
        y = x.new_empty(B, len(weight), L)
        products = []
        for patches, out in zip(x, y, strict=True):
            products.append(Product(weight, patches, out))
        multiply(*products)
        return y

    @staticmethod
    @no_double_backward
    def backward(ctx, dy):
        weight, x = ctx.saved_tensors
        dy = dy.contiguous()
        # Picture after picture is added, in this order on every machine.
        dweight = weight.new_zeros(weight.shape)
        products = []
        for slope, patches in zip(dy, x, strict=True):
            products.append(Product(slope, patches.T, dweight, add=True))
        multiply(*products)
        if not ctx.needs_input_grad[1]:
            return dweight, None

        dx = x.new_empty(x.shape)
        turned = weight.T.contiguous()
        products = []
        for slope, out in zip(dy, dx, strict=True):
            products.append(Product(turned, slope, out))
        multiply(*products)
        return dweight, dx


class Convolution(nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        """Convolve pictures B C H W -> B D H' W', as torch does."""
        if not compiles(x):
            return super().forward(x)
        # F = C x kernel numbers of a patch, L patches: B F L.
        patches = unfold(x, self.kernel_size, padding=self.padding, stride=self.stride)
        padded = x.size(2) + 2 * self.padding[0]
        last_start = padded - self.kernel_size[0]
        rows = last_start // self.stride[0] + 1  # H'
        filters = self.weight.flatten(1)  # D F
        y = _Filtered.apply(filters, patches)
        y = y + self.bias[:, None]
        return y.unflatten(2, (rows, -1))
