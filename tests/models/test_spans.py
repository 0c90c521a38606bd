"""The masks of Adaptive Attention Span, and the limits in which two variants must coincide."""

import math

import pytest
import torch
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.spans._ramp import log_ramp, ramp_reach
from models.attention.spans.adaptive import Adaptive
from tests._models import FIXED, PLAIN, make, read, with_gradients


@pytest.mark.parametrize(
    "z, x, expected",
    [
        (0.0, [1, 2, 32, 33], [1, 31 / 32, 1 / 32, 0]),
        (64.0, [1, 65, 66, 80, 96, 97], [1, 1, 31 / 32, 17 / 32, 1 / 32, 0]),
    ],
)
def test_the_mask_is_the_clamped_ramp(z, x, expected):
    distance = torch.tensor(x)
    span = torch.tensor(z)
    m = log_ramp(distance, span, 32).exp()
    assert_close(m, torch.tensor(expected))


@pytest.mark.parametrize(
    "z, reach",
    [
        (0.0, 32),
        (0.2, 33),
        (1.0, 33),
        (81.92, 114),
        (8000.0, 8032),
        (8192.0, 8192),
    ],
)
def test_reach_counts_the_keys_with_weight(z, reach):
    z = torch.tensor(z)
    every_distance = torch.arange(1, 8193)
    has_weight = log_ramp(every_distance, z, 32) > -math.inf
    assert ramp_reach(z, 32, 8192) == reach
    assert has_weight.sum() == reach


def test_the_gradient_at_a_whole_z_is_the_derivative_from_the_left():
    """There the key at m = 1 has begun to lose weight, and that at m = 0 has not begun to gain."""
    x = torch.arange(1, 7, dtype=torch.float64)
    z = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)

    def mean(z):
        m = log_ramp(x, z, 3).exp()
        return (m * x).sum() / m.sum()

    mean(z).backward()
    step = 1e-6
    left = (mean(z) - mean(z - step)) / step
    assert z.grad.item() == pytest.approx(left.item(), rel=1e-4)


def test_adaptive_span_has_the_values_of_a_reference():
    """At S = 8192, lambda = 1: z' = 0 caches 128 inputs.

    z' = .01 costs 81.92 a layer, S / M = 1024 a head; it reaches 114 keys and caches 192.
    """
    span = Adaptive(Shape(16, 8), limit=8192, penalty_weight=1.0)
    assert span.cache_length(longest_reach(span)) == 128
    span.fraction.data.fill_(0.01)
    reach = longest_reach(span)
    assert reach == 114
    assert span.cache_length(reach) == 192
    facts = span.facts()
    assert facts["mean_span"] == math.ceil(81.92) + 32
    penalty = span.penalty()
    penalty.backward()
    assert penalty.item() == pytest.approx(81.92)
    gradient = span.fraction.grad.flatten()
    assert_close(gradient, torch.full((8,), 1024.0))


def longest_reach(span: Adaptive) -> int:
    extent = span.extent(None)
    reach = span.reach(extent)
    return int(reach.max())


def spans(name: str, fraction: float, **settings):
    """Make a model of these spans, whose heads all have this fraction of the limit."""
    span = {
        "name": name,
        "limit": 8,
        "ramp": 3,
        "penalty_weight": 0.0,
        **settings,
    }
    model = make(FIXED | {"span": span})
    for key, parameter in model.named_parameters():
        if key.endswith("span.fraction"):
            parameter.data.fill_(fraction)
        elif key.endswith("span.weight"):
            # spans that do not follow the input
            parameter.data.zero_()
        elif key.endswith("span.bias"):
            odds = fraction / (1 - fraction)
            parameter.data.fill_(math.log(odds))
    return model


TOP_K = PLAIN | {"selection": {"name": "top_k", "k": 99}}
TOP_P = PLAIN | {"selection": {"name": "top_p", "p": 1.0}}
LIMITS = {
    "adaptive at z = S is fixed": lambda: (spans("adaptive", 1.0), make(FIXED)),
    # z = 3.5: at whole numbers the two sides of a derivative differ
    "constant dynamic is adaptive": lambda: (
        spans("dynamic", 0.4375, start=0.0),
        spans("adaptive", 0.4375),
    ),
    "k >= keys is all": lambda: (make(TOP_K), make(PLAIN)),
    "p = 1 is all": lambda: (make(TOP_P), make(PLAIN)),
}


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_variants_coincide_in_the_limit(limit):
    """Outputs, and gradients of all parameters that they share."""
    ours, other = limit()
    other.load_state_dict(ours.state_dict(), strict=False)
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(11, (2, 23), generator=generator)
    logits = read(ours, tokens, 7)
    found = with_gradients(ours, logits)
    logits = read(other, tokens, 7)
    expected = with_gradients(other, logits)
    for name in found.keys() & expected.keys():
        assert_close(found[name], expected[name])
