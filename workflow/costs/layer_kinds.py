"""The four kinds of layer of Attention Is All You Need, Table 1, each as a function of a sequence B
n d.

A step is one pass forward and backward over a single random sequence: what a layer adds to a
training step.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from models.attention.choice import Shape
from models.attention.layers import SequenceAttention, StreamAttention, build_choice

HEADS = 1  # the table's n^2 d counts one product of all queries with all keys
REACH = 32  # r of restricted self-attention: keys that a query sees
KERNEL = 3  # k of the convolution
PLAIN = {"selection": "all", "normaliser": "softmax", "position": "none"}


class SelfAttention(nn.Module):
    """Every position attends to every position."""

    def __init__(self, width: int):
        super().__init__()
        self.attention = _attention(
            SequenceAttention, width, {"name": "full", "cache": 1}, reads_itself=True
        )

    def forward(self, x: Tensor) -> Tensor:
        visible = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        return self.attention.read(x, visible)


class Restricted(nn.Module):
    """Every position attends to itself and the `REACH` - 1 before it."""

    def __init__(self, width: int):
        super().__init__()
        self.attention = _attention(
            StreamAttention, width, {"name": "fixed", "limit": REACH}, attends_self=True
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, self.attention.start(len(x)))[0]


class Recurrent(nn.LSTM):
    def __init__(self, width: int):
        super().__init__(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[0]


class Convolutional(nn.Conv1d):
    def __init__(self, width: int):
        super().__init__(width, width, KERNEL, padding=KERNEL // 2)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


LAYERS = {"self": SelfAttention, "rnn": Recurrent, "conv": Convolutional, "local": Restricted}


def _attention(kind: type, width: int, span: dict, **settings):
    shape = Shape(width, HEADS)
    others = (
        build_choice(axis, {"name": PLAIN[axis]}, shape)
        for axis in ("selection", "normaliser", "position")
    )
    return kind(shape, build_choice("span", span, shape), *others, **settings)


def step(name: str, n: int, width: int, device: torch.device) -> Callable[[], None]:
    """Make a function that passes forward and backward through a new layer, over one sequence of n
    positions.
    """
    torch.manual_seed(0)
    layer = LAYERS[name](width).to(device)
    x = torch.randn(1, n, width, device=device, requires_grad=True)

    def run() -> None:
        layer.zero_grad(set_to_none=True)
        x.grad = None
        layer(x).sum().backward()

    return run
