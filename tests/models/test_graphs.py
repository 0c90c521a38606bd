"""What a GPU computes in training is one graph, whatever is chosen: `torch.compile` finds no break.

The compiler's first half runs in `make test`, the second, which writes C++, in `make test-all`.
"""

import os
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from models.attention.choice import Choice, Shape
from models.attention.layers import CHOICES
from models.kernels.compiled import build
from tests._models import draw
from tests.models._graphs import block_of, check, made

# of torch's own tracing of autograd functions
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
each_choice = pytest.mark.parametrize(
    "axis, name", [(axis, name) for axis, choices in CHOICES.items() for name in choices]
)


@each_choice
def test_every_choice_is_one_graph_with_the_definitions_numbers(axis, name):
    check(axis, name, backend="eager")


@pytest.mark.slow
@pytest.mark.parametrize("axis", CHOICES)
def test_compiled_graphs_have_the_definitions_numbers(axis, tmp_path):
    """In a process of its own: one run of these in five ended in a segmentation fault.

    Nothing had been found unequal, and the cause is not known. After a signal the process is begun
    once more, with an empty cache of compiled code, which it never shares with another.
    """
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.models._graphs", axis]
    for attempt in ("first", "second"):
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / attempt)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
        if done.returncode >= 0:
            break
        print(done.stderr)
    assert not done.returncode, done.stdout + done.stderr


class Asks(Choice):
    """Asks for a number, which a graph cannot do."""

    def __init__(self, shape: Shape):
        super().__init__()

    def forward(self, kept: Tensor) -> Tensor:
        if kept.max().item() > 0:
            return kept.softmax(-1)
        return kept.softmax(-1)


def test_a_choice_that_breaks_the_graph_is_told_with_its_line():
    one = made(normaliser=Asks(Shape(16, 4)))
    graph = torch.compile(block_of(one), fullgraph=True, backend="eager")
    torch.compiler.reset()
    with build.without(), pytest.raises(torch._dynamo.exc.TorchDynamoException) as broken:
        graph(draw(2, 6, 16), draw(5, 2, 16))
    assert "kept.max().item() > 0" in str(broken.value)
