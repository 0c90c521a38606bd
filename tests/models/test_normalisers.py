"""Rows of weights against hand-computed values, another library, and finite differences."""

import math

import entmax
import pytest
import torch

from models.attention.choice import Shape
from models.attention.layers import CHOICES
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
    return 2 * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name, expected", [("sparsemax", (0.75, 0.25)), ("entmax15", (0.674, 0.326))])
def test_hand_computed(name, expected):
    p = normaliser(name)(torch.tensor([1.0, 0.5], dtype=torch.float64))
    assert p.tolist() == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("name, oracle", [("sparsemax", entmax.sparsemax), ("entmax15", entmax.entmax15)])
def test_equals_another_library(name, oracle):
    z = rows(3, 2, 5, 40)
    torch.testing.assert_close(normaliser(name)(z), oracle(z, dim=-1), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("scale, keys", [(1.0, 40), (0.15, 4096), (50.0, 3)])
@pytest.mark.parametrize("alpha", [1.01, 1.1, 1.5, 1.9, 1.999])
def test_alpha_equals_another_library(alpha, scale, keys):
    z = scale * rows(3, 2, 5, keys)
    entmax_alpha, theirs = normaliser("entmax_alpha", alpha), entmax.entmax_bisect(z, alpha, n_iter=100)
    torch.testing.assert_close(entmax_alpha(z), theirs, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(entmax_alpha.float()(z.float()), theirs.float(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [0.01, 0.3, 30.0])
def test_a_row_does_not_depend_on_the_rows_beside_it(scale):
    """However many steps of Newton's method those take."""
    entmax_alpha, z = normaliser("entmax_alpha", 1.7).float(), rows(1, 2, 50, 30).float()
    other = torch.cat([z[:, :, :25], scale * z[:, :, 25:]], 2)
    assert torch.equal(entmax_alpha(z)[:, :, :25], entmax_alpha(other)[:, :, :25])


def test_alpha_of_exactly_2_is_sparsemax():
    entmax_alpha, z = normaliser("entmax_alpha"), rows(1, 2, 6, 12)
    entmax_alpha.a.data.fill_(INF)
    torch.testing.assert_close(entmax_alpha(z), normaliser("sparsemax")(z), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("alpha, name", [(1.0001, "softmax"), (1.5, "entmax15"), (1.9999, "sparsemax")])
def test_alpha_joins_the_others(alpha, name):
    z = rows(1, 2, 6, 12).requires_grad_()
    weight = rows(1, 2, 6, 12, seed=1)
    ours, theirs = normaliser("entmax_alpha", alpha)(z), normaliser(name)(z)
    torch.testing.assert_close(ours, theirs, rtol=2e-3, atol=1e-3)
    gradients = (torch.autograd.grad((p * weight).sum(), z)[0] for p in (ours, theirs))
    torch.testing.assert_close(*gradients, rtol=1e-2, atol=2e-2)


@pytest.mark.parametrize("name", NORMALISERS)
def test_gradients(name):
    torch.autograd.gradcheck(normaliser(name), rows(1, 2, 3, 6).requires_grad_(), atol=1e-6)


def test_gradient_in_alpha():
    entmax_alpha, z = normaliser("entmax_alpha", 1.4), rows(2, 2, 3, 6)

    def weigh(a):
        return torch.func.functional_call(entmax_alpha, {"a": a}, z)

    torch.autograd.gradcheck(weigh, entmax_alpha.a, atol=1e-6)


@pytest.mark.parametrize("name", NORMALISERS)
def test_neither_hidden_keys_nor_a_constant_added_to_a_row_change_anything(name):
    z = rows(1, 2, 3, 6)
    p = normaliser(name)(torch.cat([z + 100, torch.full((1, 2, 3, 4), -INF, dtype=torch.float64)], -1))
    assert p[..., 6:].abs().max() == 0
    torch.testing.assert_close(p[..., :6], normaliser(name)(z), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    "scores, k, expected",
    [([3.0, 2.0, 2.0, 2.0, 1.0], 2, [3, 2, 2, 2]), ([1.0, -INF, 3.0, -INF, -INF], 4, [1, 3])],
    ids=["ties with the threshold stay", "fewer visible keys than k all stay"],
)
def test_top_k_by_hand(scores, k, expected):
    assert [score for score in TopK(SHAPE, k=k)(torch.tensor(scores)).tolist() if score > -INF] == expected


def test_dropped_keys_get_no_gradient():
    z = torch.tensor([3.0, 1.0, 2.0, 0.0], dtype=torch.float64, requires_grad=True)
    p = TopK(SHAPE, k=2)(z).softmax(-1)
    (p * torch.tensor([1.0, 2.0, 5.0, 7.0])).sum().backward()
    assert z.grad[1] == 0 and z.grad[3] == 0 and z.grad[0] != 0


def test_k_below_1_is_refused():
    with pytest.raises(ValueError, match="k must be at least 1"):
        TopK(SHAPE, k=0)
