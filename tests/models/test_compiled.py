"""The compiled code against the definition: streams, sentences and attention to a source, of any
widths and lengths.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as draw

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.selections.top_k import TopK
from models.kernels.compiled import build
from models.kernels.compiled.dense import (
    Product,
    add_and_norm,
    by_heads,
    linear,
    multiply,
    of_heads,
)
from tests._equivalence import check_stream, inputs, layer_of, named, results, sequence_layer
from tests._nets import assert_same

pytestmark = pytest.mark.skipif(build.obstacle(torch.float64) is not None, reason="no C compiler")

combination = draw.tuples(*map(draw.sampled_from, named(compiled=True).values()))
# short of a vector, a whole one, several, and a rest
width = draw.sampled_from([2, 4, 8, 13, 16, 24, 40])
# several chunks of queries
length, limit = draw.integers(1, 150), draw.sampled_from([1, 5, 33, 60, 200])
kept = draw.sampled_from([1, 3, 8, 30])
anywhere = settings(max_examples=120, deadline=None, derandomize=True)


@anywhere
@given(
    combination,
    width,
    width,
    limit,
    length,
    draw.integers(1, 40),
    kept,
    draw.booleans(),
    draw.integers(0, 99),
)
def test_a_sequence_equals_the_definition(names, d_k, d_v, S, N, T, k, reads_itself, seed):
    """Padded to different lengths, one of them perhaps all padding."""
    layer, B = (
        sequence_layer(names, S, N, k, Shape(6, 3, d_k, d_v), reads_itself, seed),
        1 + seed % 3,
    )
    visible = torch.arange(N)[None] < torch.randint(N + 1, (B, 1))
    x = torch.randn(B, N if reads_itself else T, 6).double()
    given = (x,) if reads_itself else (x, torch.randn(B, N, 6).double())
    direction, found = torch.randn(*x.shape).double(), []

    def read(x, source=None):
        return (
            layer.read(x, visible) if source is None else layer(x, layer.project(source), visible)
        )

    for layer.implementation in (Engine("compiled"), Definition()):
        found.append(results(read, layer, direction, *given))
    assert_same(*found)


@pytest.mark.parametrize(
    "m, n, k", [(1, 1, 1), (13, 7, 5), (97, 70, 33), (200, 64, 600), (5, 131, 1030)]
)
def test_products(m, n, k):
    """Operands have any strides; the product is added to what is there or not, with a bias and
    relu.
    """
    a, b, c, bias = (torch.randn(*size).double() for size in ((k, m), (k, n), (m, n), (n,)))
    plain, transposed, added, rectified = c.clone(), c.clone(), c.clone(), c.clone()
    multiply(
        Product(a.T, b, plain),
        Product(a.T.contiguous(), b.T.contiguous().T, transposed),
        Product(a.T, b, added, add=True),
        Product(a.T, b, rectified, relu=True, bias=bias),
    )
    torch.testing.assert_close(plain, a.T @ b)
    torch.testing.assert_close(transposed, a.T @ b)
    torch.testing.assert_close(added, c + a.T @ b)
    torch.testing.assert_close(rectified, (a.T @ b + bias).relu())


@pytest.mark.parametrize("two", [True, False])
def test_gradients_of_layers_by_finite_differences(two):
    torch.manual_seed(0)
    sizes = ((2, 9, 5), (2, 9, 5), (5,), (5,), (4, 5), (6, 5), (2, 2, 9, 3), (7, 6))
    x, y, weight, bias, matrix, other, heads, out = (
        torch.randn(*size).double().requires_grad_() for size in sizes
    )
    y = y if two else None
    assert torch.autograd.gradcheck(
        lambda *leaves: add_and_norm(*leaves, 1e-5), (x, y, weight, bias)
    )
    assert torch.autograd.gradcheck(linear, (x, matrix, bias[:4].detach().requires_grad_()))
    assert torch.autograd.gradcheck(
        lambda *leaves: by_heads(leaves[0], (2, 2), *leaves[1:]), (x, matrix, other)
    )
    assert torch.autograd.gradcheck(of_heads, (heads, out))
    # a stream, a value wide
    one = [torch.randn(*size).double().requires_grad_() for size in ((1, 2, 9, 1), (7, 2))]
    assert torch.autograd.gradcheck(of_heads, one)
    expected = torch.nn.functional.layer_norm(x if y is None else x + y, (5,), weight, bias)
    torch.testing.assert_close(add_and_norm(x, y, weight, bias, 1e-5), expected)


@pytest.mark.parametrize("normaliser", named(compiled=True)["normaliser"])
@pytest.mark.parametrize("selection", named(compiled=True)["selection"])
def test_what_is_not_a_number_stays_so(selection, normaliser):
    """A run whose weights diverge must not look as if it saw nothing."""
    layer = layer_of(("fixed", selection, normaliser, "none"), 40, 2, True, 0)
    layer.query.weight.data[0, 0] = torch.nan
    x, past = inputs(layer, 30, 20, 2)
    y, _ = Engine("compiled").attend(layer, x, past)
    assert y[:, :, 0].isnan().all() and y[:, :, 1:].isfinite().all()
    negative = Product(
        torch.full((1, 1), torch.nan).double(),
        torch.ones(1, 1).double(),
        torch.zeros(1, 1).double(),
    )
    multiply(negative._replace(relu=True))
    assert negative.c.isnan().all()


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
