"""What `torch.compile` makes of attention, compared with the definition.

    python -m tests.models._graphs AXIS

compares all choices of an axis, compiled to C++.
"""

import sys

import torch
from torch import Tensor

from models.attention.formula import attend_block
from models.attention.layers import CHOICES
from models.kernels.compiled import build
from models.library import layer
from tests._models import draw


def made(**choices):
    return layer(16, 4, **choices).double().train()


def block_of(one):
    """Return a function that attends with a block of a stream and its cache."""

    def attend(x: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
        y, (past,) = attend_block(one, x, (inputs,), 8)
        return y, past

    return attend


def computed(attend, one, x: Tensor, inputs: Tensor) -> list:
    """Return the output, the next cache and all gradients."""
    x = x.clone().requires_grad_()
    y, past = attend(x, inputs)
    loss = y.square().sum() + y.sum()
    parameters = [x, *one.parameters()]
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [y, past, *(each for each in gradients if each is not None)]


def check(axis: str, name: str, **compiler) -> None:
    torch.manual_seed(0)
    one = made(**{axis: {"name": name, **CHOICES[axis][name].example}})
    attend = block_of(one)
    x, inputs = draw(2, 6, 16), draw(5, 2, 16)
    with build.without():
        expected = computed(attend, one, x, inputs)
        torch.compiler.reset()
        graph = torch.compile(attend, fullgraph=True, **compiler)
        found = computed(graph, one, x, inputs)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


if __name__ == "__main__":
    (axis,) = sys.argv[1:]
    for name in CHOICES[axis]:
        print(axis, name, flush=True)
        check(axis, name)
