"""Rows of weights against hand-computed values, another library, and finite differences."""

import math

import entmax
import pytest
import torch

from models.attention.choice import Shape
from models.attention.layers import CHOICES
from models.attention.normalisers.entmax_alpha import _EntmaxAlpha
from models.attention.selections.top_k import TopK

NORMALISERS = CHOICES["normaliser"]
SHAPE = Shape(8, 2)
INF = math.inf


def normaliser(name, alpha=None):
    choice = NORMALISERS[name](SHAPE).double()
    if alpha is not None:
        choice.a.data.fill_(math.log((alpha - 1) / (2 - alpha)))
    return choice


def rows(*shape, seed=0):
    return 2 * torch.randn(
        *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


@pytest.mark.parametrize(
    "name, expected", [("sparsemax", (0.75, 0.25)), ("entmax15", (0.674, 0.326))]
)
def test_hand_computed(name, expected):
    p = normaliser(name)(torch.tensor([1.0, 0.5], dtype=torch.float64))
    assert p.tolist() == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    "name, oracle", [("sparsemax", entmax.sparsemax), ("entmax15", entmax.entmax15)]
)
def test_equals_another_library(name, oracle):
    z = rows(3, 2, 5, 40)
    torch.testing.assert_close(normaliser(name)(z), oracle(z, dim=-1), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("scale, keys", [(1.0, 40), (0.15, 4096), (50.0, 3)])
@pytest.mark.parametrize("alpha", [1.01, 1.1, 1.5, 1.9, 1.999])
def test_alpha_equals_another_library(alpha, scale, keys):
    z = scale * rows(3, 2, 5, keys)
    entmax_alpha, theirs = (
        normaliser("entmax_alpha", alpha),
        entmax.entmax_bisect(z, alpha, n_iter=100),
    )
    torch.testing.assert_close(entmax_alpha(z), theirs, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(
        entmax_alpha.float()(z.float()), theirs.float(), rtol=1e-3, atol=1e-5
    )


def ends(dtype):
    """List where the range of alpha ends, its neighbours there, and what it is there."""
    above_1, below_2 = torch.nextafter(
        torch.tensor([1.0, 2.0], dtype=dtype), torch.tensor(1.5, dtype=dtype)
    ).tolist()
    return [(1.0, "softmax"), (above_1, "softmax"), (below_2, "sparsemax"), (2.0, "sparsemax")]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("end", range(4))
def test_alpha_at_the_very_ends_of_its_range_is_softmax_and_sparsemax(end, dtype):
    """With keys that nobody sees; a sigmoid reaches both ends in 32 bits."""
    alpha, name = ends(dtype)[end]
    z = (
        torch.cat([3 * rows(1, 2, 6, 40), torch.full((1, 2, 6, 4), -INF)], -1)
        .to(dtype)
        .requires_grad_()
    )
    weight, alpha = (
        rows(1, 2, 6, 44, seed=1).to(dtype),
        torch.full((2, 1, 1), alpha, dtype=dtype, requires_grad=True),
    )
    ours, theirs = _EntmaxAlpha.apply(z, alpha), normaliser(name)(z)
    close = {"rtol": 20 * torch.finfo(dtype).eps, "atol": 20 * torch.finfo(dtype).eps}
    torch.testing.assert_close(ours, theirs, **close)
    in_z, in_alpha = torch.autograd.grad((ours * weight).sum(), (z, alpha))
    torch.testing.assert_close(in_z, torch.autograd.grad((theirs * weight).sum(), z)[0], **close)
    torch.testing.assert_close(in_alpha, slope_at(alpha, z, weight).to(dtype), rtol=2e-4, atol=2e-5)


def slope_at(alpha, z, weight):
    """Compute the gradient of alpha in 64 bits: at softmax by hand, at sparsemax by a
    difference.
    """
    z, weight, sum_of = z.detach().double(), weight.double(), {"dim": (0, 2, 3), "keepdim": True}
    if alpha.mean() < 1.5:  # - (p ln^2 p - p sum p ln^2 p) / 2
        p = z.softmax(-1)
        squares = p * p.clamp(min=1e-300).log().square()
        return (weight * (p * squares.sum(-1, keepdim=True) - squares) / 2).sum(**sum_of)[0]
    at = [
        _EntmaxAlpha.apply(z, torch.full((2, 1, 1), each, dtype=torch.float64))
        for each in (2.0, 2.0 - 1e-6)
    ]
    return (weight * (at[0] - at[1]) / 1e-6).sum(**sum_of)[0]


@pytest.mark.parametrize("name", NORMALISERS)
def test_gradients(name):
    torch.autograd.gradcheck(normaliser(name), rows(1, 2, 3, 6).requires_grad_(), atol=1e-6)


def test_gradient_in_alpha():
    entmax_alpha, z = normaliser("entmax_alpha", 1.4), rows(2, 2, 3, 6)

    def weigh(a):
        return torch.func.functional_call(entmax_alpha, {"a": a}, z)

    torch.autograd.gradcheck(weigh, entmax_alpha.a, atol=1e-6)


@pytest.mark.parametrize("name", NORMALISERS)
def test_neither_hidden_keys_nor_a_constant_added_to_a_row_that_sums_to_one_change_anything(name):
    z = rows(1, 2, 3, 6)
    constant = 100 if normaliser(name).sums_to_one else 0
    p = normaliser(name)(
        torch.cat([z + constant, torch.full((1, 2, 3, 4), -INF, dtype=torch.float64)], -1)
    )
    assert p[..., 6:].abs().max() == 0
    torch.testing.assert_close(p[..., :6], normaliser(name)(z), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    "scores, k, expected",
    [([3.0, 2.0, 2.0, 2.0, 1.0], 2, [3, 2, 2, 2]), ([1.0, -INF, 3.0, -INF, -INF], 4, [1, 3])],
    ids=["ties with the threshold stay", "fewer visible keys than k all stay"],
)
def test_top_k_by_hand(scores, k, expected):
    assert [
        score for score in TopK(SHAPE, k=k)(torch.tensor(scores)).tolist() if score > -INF
    ] == expected


def test_dropped_keys_get_no_gradient():
    z = torch.tensor([3.0, 1.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    p = TopK(SHAPE, k=2)(z).softmax(-1)
    (p * torch.tensor([1.0, 2.0, 5.0, 7.0])).sum().backward()
    assert z.grad[1] == 0 and z.grad[3] == 0 and z.grad[0] != 0
