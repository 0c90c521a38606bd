"""Rows of weights against hand-computed values, another library, and finite differences."""

import math

import entmax
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.layers import CHOICES
from models.attention.normalisers import entmax15, sparsemax
from models.attention.normalisers._sparse import centre, climb, steps_enough
from models.attention.normalisers.entmax_alpha import _EntmaxAlpha
from models.attention.selections.top_k import TopK
from models.kernels.compiled import build
from models.kernels.compiled.attention import CROSS, Layout, Pattern, attend
from tests._elsewhere import Elsewhere, Numbers
from tests._models import draw

INF = math.inf
SHAPE = Shape(8, 2)
each_normaliser = pytest.mark.parametrize("name", CHOICES["normaliser"])


def normaliser(name: str):
    made = CHOICES["normaliser"][name](SHAPE)
    return made.double()


@pytest.mark.parametrize(
    "name, expected",
    [
        ("sparsemax", (0.75, 0.25)),
        ("entmax15", (0.674, 0.326)),
    ],
)
def test_hand_computed(name, expected):
    made = normaliser(name)
    z = torch.tensor([1.0, 0.5], dtype=torch.float64)
    p = made(z)
    assert p.tolist() == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("scale, keys", [(2.0, 40), (0.3, 4096), (100.0, 3)])
@pytest.mark.parametrize(
    "name, alpha",
    [
        ("entmax15", 1.5),
        ("sparsemax", 2.0),
        ("entmax_alpha", 1.01),
        ("entmax_alpha", 1.5),
        ("entmax_alpha", 1.999),
    ],
)
def test_equals_another_library(name, alpha, scale, keys):
    z = scale * draw(3, 2, 5, keys)
    ours = normaliser(name)
    if name == "entmax_alpha":
        learned = torch.tensor(alpha - 1, dtype=torch.float64).logit()
        ours.a.data.copy_(learned)
    theirs = entmax.entmax_bisect(z, alpha, n_iter=100)
    assert_close(ours(z), theirs, rtol=1e-7, atol=1e-9)
    ours.float()
    in_32_bits = ours(z.float())
    assert_close(in_32_bits, theirs.float(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("is_next", [False, True], ids=["the end", "next to it"])
@pytest.mark.parametrize("end, name", [(1.0, "softmax"), (2.0, "sparsemax")])
def test_alpha_at_the_very_ends_of_its_range(end, name, is_next, dtype):
    """With keys that nobody sees; a sigmoid reaches both ends in 32 bits."""
    alpha = torch.tensor(end, dtype=dtype)
    if is_next:
        inside = torch.tensor(1.5, dtype=dtype)
        alpha = torch.nextafter(alpha, inside)
    z = 6 * draw(1, 2, 6, 44)
    z[..., 40:] = -INF
    z = z.to(dtype).requires_grad_()
    weight = draw(1, 2, 6, 44).to(dtype)
    found = []
    at_the_end = normaliser(name)
    for p in (_EntmaxAlpha.apply(z, alpha), at_the_end(z)):
        total = (p * weight).sum()
        (gradient,) = torch.autograd.grad(total, z)
        found.append(torch.stack([p, gradient]))
    bound = 20 * torch.finfo(dtype).eps
    assert_close(*found, rtol=bound, atol=bound)


@each_normaliser
def test_gradients_of_scores_and_parameters(name):
    made = normaliser(name)
    z = 2 * draw(1, 2, 3, 6)
    z.requires_grad_()
    torch.autograd.gradcheck(made, z, atol=1e-6)
    for key, parameter in made.named_parameters():

        def weigh(value, key=key):
            return torch.func.functional_call(made, {key: value}, z)

        torch.autograd.gradcheck(weigh, parameter, atol=1e-6)


@each_normaliser
def test_neither_hidden_keys_nor_a_constant_added_to_a_row_that_sums_to_one_change_anything(name):
    made = normaliser(name)
    z = 2 * draw(1, 2, 3, 6)
    constant = 100 if made.sums_to_one else 0
    hidden = torch.full((1, 2, 3, 4), -INF, dtype=torch.float64)
    shifted = torch.cat([z + constant, hidden], -1)
    seen, unseen = made(shifted).split([6, 4], -1)
    assert_close(seen, made(z))
    assert not unseen.any()


@pytest.mark.parametrize(
    "scores, k, expected",
    [
        # ties with the threshold stay
        ([3.0, 2.0, 2.0, 2.0, 1.0], 2, [3, 2, 2, 2, -INF]),
        # fewer visible keys than k all stay
        ([1.0, -INF, 3.0, -INF, -INF], 4, [1, -INF, 3, -INF, -INF]),
    ],
)
def test_top_k_by_hand(scores, k, expected):
    top_k = TopK(SHAPE, k=k)
    kept = top_k(torch.tensor(scores))
    assert kept.tolist() == expected


NEAR = torch.tensor([0.0, 0.25, 0.5, 0.75, -0.5, -2.0, 0.5])


def compiled(scores, alpha):
    """Weigh keys that have these scores, by one query to one-hot values, in C."""
    n = len(scores)
    key = Layout(1, (0,), (n,), (1,))
    value = Layout(n, (0,), (n * n,), (n,))
    is_learned = alpha.requires_grad
    pattern = Pattern(
        CROSS,
        (n,),
        key,
        value,
        n,
        learned_alpha=is_learned,
    )
    query = torch.ones(1, 1, 1, 1)
    keys = scores.view(1, 1, n, 1)
    values = torch.eye(n)
    y = attend(pattern, query, None, keys, values, None, None, alpha)
    return y.flatten()


def definition(scores, alpha):
    # softmax, to nine digits
    at_least = alpha.clamp(min=1 + 1e-9)
    (p,) = _EntmaxAlpha.apply(scores[None], at_least[:, None])
    return p


@pytest.mark.skipif(build.obstacle() is not None, reason="no C compiler")
@pytest.mark.parametrize("alpha", [1.0, 1.0005, 1.003, 1.007, 1.05, 1.5, 1.9, 2.0])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4, 4e6])
def test_an_offset_in_common_changes_nothing_in_32_bits(offset, alpha):
    """All scores are large and nearly equal, or alpha is near 1: against 64 bits."""
    found = []
    for attention, dtype in ((compiled, torch.float32), (definition, torch.float64)):
        scores = (NEAR + offset).to(dtype)
        learned = torch.tensor([alpha], dtype=dtype)
        inputs = [scores]
        # alpha is learned strictly inside its range
        if 1 < alpha < 2:
            inputs.append(learned)
        for each in inputs:
            each.requires_grad_()
        y = attention(scores, learned)
        direction = torch.linspace(-1, 2, 7, dtype=dtype)
        gradients = torch.autograd.grad(y, inputs, direction)
        found.append([y, *gradients])
    assert_close(
        *found,
        rtol=3e-4,
        atol=3e-5,
        check_dtype=False,
    )


def slow_row(width: int, dtype: torch.dtype) -> Tensor:
    """Make a row for which Newton's method needs about log2(width) steps: each halves the support
    and what the sum has above 1.
    """
    groups = int(math.log2(width))
    levels = torch.arange(groups, dtype=torch.float64) / groups - 1
    counts = 2 ** torch.arange(groups - 1, -1, -1)
    row = torch.cat([levels.repeat_interleave(counts), torch.zeros(1)])
    return row.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [8, 512, 8192])
@pytest.mark.parametrize("module", [sparsemax, entmax15])
def test_rows_that_converge_slowly_are_exact_after_the_steps_that_suffice(module, width, dtype):
    spread = 0.1 * draw(width)
    harmonic = 1 / torch.arange(1, width + 1) ** 0.5 - 1
    rows = torch.stack([slow_row(width, dtype), spread.to(dtype), harmonic.to(dtype)])
    taken = []

    def step(x):
        taken.append(x)
        return module._step(x)

    x = climb(centre(rows), step)
    until_all_stay = len(taken)
    # as on a GPU, which is not asked whether a row still moves
    with Numbers():
        there = climb(centre(Elsewhere(rows)), step)
    assert len(taken) - until_all_stay == steps_enough(width, dtype)
    assert until_all_stay <= steps_enough(width, dtype)
    assert torch.equal(there.here, x)
    p = x if module is sparsemax else x.square()
    eps = torch.finfo(dtype).eps
    assert_close(p.double().sum(-1), torch.ones(3, dtype=torch.float64), rtol=0, atol=32 * eps)
