"""Rows whose scores are nearly equal and all large, and alphas near 1: 32 bits against the
definition in 64.
"""

import pytest
import torch

from models.attention.normalisers.entmax_alpha import _EntmaxAlpha
from models.kernels.compiled import build
from models.kernels.compiled.attention import CROSS, Layout, Pattern, attend

compiler = pytest.mark.skipif(build.obstacle() is not None, reason="no C compiler")
ALPHAS = [1.0, 1.0005, 1.003, 1.007, 1.05, 1.5, 1.9, 2.0]
NEAR = torch.tensor([0.0, 0.25, 0.5, 0.75, -0.5, -2.0, 0.5])


def compiled(scores, values, alpha):
    """Attend with one query to keys that have these scores -> y: dv."""
    n, d_v = values.shape
    key, value = Layout(1, (0,), (n,), (1,)), Layout(d_v, (0,), (n * d_v,), (d_v,))
    learned = alpha.requires_grad
    pattern = Pattern(CROSS, (n,), key, value, n, learned_alpha=learned)
    query = torch.ones(1, 1, 1, 1, dtype=scores.dtype)
    return attend(
        pattern, query, None, scores.view(1, 1, n, 1), values, None, None, alpha
    ).flatten()


def definition(scores, values, alpha):
    e = alpha.clamp(min=1 + 1e-9)  # softmax, to nine digits
    return _EntmaxAlpha.apply(scores[None], e[:, None])[0] @ values


@compiler
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4, 1e6, 4e6])
def test_an_offset_in_common_changes_nothing(offset, alpha):
    scores, values = offset + NEAR, torch.eye(len(NEAR))
    direction, found = torch.linspace(-1, 2, len(NEAR)), []
    for attention, dtype in ((compiled, torch.float32), (definition, torch.float64)):
        leaves = [
            each.to(dtype).requires_grad_() for each in (scores, values, torch.tensor([alpha]))
        ]
        leaves[2].requires_grad_(1 < alpha < 2)
        y = attention(*leaves)
        gradients = torch.autograd.grad(
            (y * direction.to(dtype)).sum(), [x for x in leaves if x.requires_grad]
        )
        found.append([each.double() for each in (y, *gradients)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=3e-4, atol=3e-5)


@pytest.mark.parametrize("alpha", ALPHAS[1:-1])
def test_the_gradient_of_alpha_keeps_its_digits(alpha):
    """In torch's code too."""
    scores = 2 * torch.randn(6, 44, generator=torch.Generator().manual_seed(0))
    slopes = []
    for dtype in (torch.float32, torch.float64):
        a = torch.full((6, 1), alpha, dtype=dtype, requires_grad=True)
        weight = torch.linspace(-1, 1, 44, dtype=dtype)
        slopes.append(
            torch.autograd.grad((_EntmaxAlpha.apply(scores.to(dtype), a) * weight).sum(), a)[
                0
            ].double()
        )
    torch.testing.assert_close(*slopes, rtol=2e-4, atol=2e-5)
