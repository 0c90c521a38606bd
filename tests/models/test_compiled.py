"""The compiled code against the definition: sentences, attention to a source, and layers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as draw
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.selections.top_k import TopK
from models.kernels.compiled import build, dense
from models.kernels.compiled.dense import Product, add_and_norm, multiply
from tests._equivalence import check_stream, inputs, layer_of, named, results, sequence_layer

pytestmark = pytest.mark.skipif(build.obstacle(torch.float64) is not None, reason="no C compiler")

# short of a vector, a whole one, several, and a rest
width = draw.sampled_from([2, 4, 8, 13, 16, 24, 40])


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    names=draw.tuples(*map(draw.sampled_from, named(compiled=True).values())),
    d_k=width,
    d_v=width,
    S=draw.sampled_from([1, 5, 33, 60, 200]),
    N=draw.integers(1, 150),  # several chunks of queries
    T=draw.integers(1, 40),
    k=draw.sampled_from([1, 3, 8, 30]),
    reads_itself=draw.booleans(),
    seed=draw.integers(0, 99),
)
def test_a_sequence_equals_the_definition(names, d_k, d_v, S, N, T, k, reads_itself, seed):
    """Padded to different lengths, one of them perhaps all padding."""
    shape = Shape(6, 3, d_k, d_v)
    layer = sequence_layer(names, S, N, k, shape, reads_itself, seed)
    B = 1 + seed % 3
    lengths = torch.randint(N + 1, (B, 1))
    visible = torch.arange(N) < lengths
    sequences = [torch.randn(B, N, 6).double()]
    if not reads_itself:
        sequences.insert(0, torch.randn(B, T, 6).double())
    direction = torch.randn_like(sequences[0])

    def read(x, source=None):
        if source is None:
            return layer.read(x, visible)
        return layer(x, layer.project(source), visible)

    layer.implementation = Engine("compiled")
    ours = results(read, layer, direction, *sequences)
    layer.implementation = Definition()
    assert_close(ours, results(read, layer, direction, *sequences))


@pytest.mark.parametrize(
    "m, n, k",
    [
        (1, 1, 1),
        (13, 7, 5),
        (97, 70, 33),
        (200, 64, 600),
        (5, 131, 1030),
    ],
)
def test_products_of_operands_of_any_strides(m, n, k):
    """Added to what is there or not, with a bias and relu, which leaves NaN as it is."""
    a = torch.randn(k, m).double()
    b = torch.randn(k, n).double()
    c = torch.randn(m, n).double()
    bias = torch.randn(n).double()
    bias[0] = torch.nan
    plain = c.clone()
    transposed = c.clone()
    added = c.clone()
    rectified = c.clone()
    multiply(
        Product(a.T, b, plain),
        Product(a.T.contiguous(), b.T.contiguous().T, transposed),
        Product(a.T, b, added, add=True),
        Product(a.T, b, rectified, relu=True, bias=bias),
    )
    expected = a.T @ b
    assert_close(plain, expected)
    assert_close(transposed, expected)
    assert_close(added, c + expected)
    assert_close(rectified, (expected + bias).relu(), equal_nan=True)


def norm_of_sum(x, y, weight, bias):
    return add_and_norm(x, y, weight, bias, 1e-5)


def norm(x, weight, bias):
    return add_and_norm(x, None, weight, bias, 1e-5)


def by_two_heads(x, *weights):
    return dense.by_heads(x, (2, 2), *weights)


@pytest.mark.parametrize(
    "compute, sizes",
    [
        (norm_of_sum, [(2, 9, 5), (2, 9, 5), (5,), (5,)]),
        (norm, [(2, 9, 5), (5,), (5,)]),
        (dense.linear, [(2, 9, 5), (4, 5), (4,)]),
        (by_two_heads, [(2, 9, 5), (4, 5), (6, 5)]),
        (dense.of_heads, [(2, 2, 9, 3), (7, 6)]),
        (dense.of_heads, [(1, 2, 9, 1), (7, 2)]),  # a stream, a value wide
    ],
)
def test_gradients_of_layers_by_finite_differences(compute, sizes):
    torch.manual_seed(0)
    leaves = [torch.randn(size).double().requires_grad_() for size in sizes]
    assert torch.autograd.gradcheck(compute, leaves)


class Louder(TopK):
    """A choice that the compiled code has not heard of, though it is a kind of one that it has."""

    def forward(self, masked):
        return super().forward(2 * masked)


def test_a_choice_that_it_does_not_know_is_left_to_other_code():
    layer = layer_of(("fixed", "all", "softmax", "relative"), 6, 1, False, 0)
    layer.selection = Louder(layer.shape, k=2)
    x, past = inputs(layer, 5, 4, 2)
    check_stream(layer, x, past)
    with pytest.raises(ValueError, match="'compiled' .* Louder"):
        Engine("compiled").attend(layer, x, past)
