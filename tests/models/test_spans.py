"""The masks of Adaptive Attention Span, and the limits in which two attention variants must
coincide.
"""

import math

import pytest
import torch

from models.attention.choice import Shape
from models.attention.spans._ramp import log_ramp, ramp_reach
from models.attention.spans.adaptive import Adaptive
from tests import _nets
from tests._nets import make, read, with_gradients

SHAPE = Shape(16, 8)
FIXED = {"name": "fixed", "limit": 8}
RELATIVE = {"name": "relative", "limit": 8}
PLAIN = {
    "span": FIXED,
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": RELATIVE,
}


def stream(length=23):
    return torch.randint(11, (2, length), generator=torch.Generator().manual_seed(5))


def assert_same(model, other):
    """Give both nets the same weights; outputs and gradients of all parameters that they share are
    equal.
    """
    model.load_state_dict(other.state_dict(), strict=False)
    ours, theirs = (with_gradients(net, read(net, stream(), 7)) for net in (model, other))
    shared = ours.keys() & theirs.keys()
    _nets.assert_same(*({name: each[name] for name in shared} for each in (ours, theirs)))


@pytest.mark.parametrize(
    "z, x, expected",
    [
        (0, [1, 2, 32, 33], [1, 31 / 32, 1 / 32, 0]),
        (64, [1, 65, 66, 80, 96, 97], [1, 1, 31 / 32, 17 / 32, 1 / 32, 0]),
    ],
)
def test_the_mask_is_the_clamped_ramp(z, x, expected):
    torch.testing.assert_close(
        log_ramp(torch.tensor(x), torch.tensor(float(z)), 32).exp(), torch.tensor(expected)
    )


@pytest.mark.parametrize(
    "z, reach", [(0.0, 32), (0.2, 33), (1.0, 33), (81.92, 114), (8000.0, 8032), (8192.0, 8192)]
)
def test_reach_counts_the_keys_with_weight(z, reach):
    assert ramp_reach(torch.tensor(z), 32, 8192) == reach
    assert (log_ramp(torch.arange(1, 8193), torch.tensor(z), 32) > -math.inf).sum() == reach


def test_the_gradient_at_a_whole_z_is_the_derivative_from_the_left():
    """Below a whole z, the key at m = 1 has begun to lose weight and the key at m = 0 has not begun
    to gain any.
    """
    x = torch.arange(1, 7, dtype=torch.float64)
    z = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)

    def mean(z):
        m = log_ramp(x, z, 3).exp()
        return (m * x).sum() / m.sum()

    mean(z).backward()
    h = 1e-6
    left, right = ((mean(z + step) - mean(z)).item() / step for step in (-h, h))
    assert z.grad == pytest.approx(left, rel=1e-4) and z.grad != pytest.approx(right, rel=1e-2)


def test_penalty_and_its_gradient():
    """Reference values: z' = .01 everywhere, S = 8192, lambda = 1 give 81.92 a layer and S / M =
    1024 a head.
    """
    span = Adaptive(SHAPE, limit=8192, penalty_weight=1.0)
    span.fraction.data.fill_(0.01)
    span.penalty().backward()
    assert span.penalty().item() == pytest.approx(81.92)
    torch.testing.assert_close(span.fraction.grad.flatten(), torch.full((8,), 1024.0))


def test_the_window_and_cache_follow_the_span():
    """Reference values at S = 8192: z' = 0 caches 128 inputs; z' = .01 reaches 114 keys and caches
    192.
    """
    span = Adaptive(SHAPE, limit=8192)
    assert span.cache_length(int(span.reach(span.extent(None)).max())) == 128
    span.fraction.data.fill_(0.01)
    reach = int(span.reach(span.extent(None)).max())
    assert (reach, span.cache_length(reach)) == (114, 192)


def test_facts_are_the_papers_average_and_maximum():
    span = Adaptive(Shape(4, 2), limit=100)
    span.fraction.data.copy_(torch.tensor([0.101, 0.302]).view(2, 1, 1))
    facts = span.facts()
    assert facts["mean_span"] == math.ceil(20.15) + 32
    assert facts["max_span"] == math.ceil(30.2) + 32
    assert facts["spans"] == pytest.approx([42.1, 62.2], abs=1e-4)


def test_adaptive_at_z_S_equals_fixed():
    adaptive = make(
        {**PLAIN, "span": {"name": "adaptive", "limit": 8, "ramp": 3, "penalty_weight": 0.0}}
    )
    for layer in adaptive.attentions:
        layer.span.fraction.data.fill_(1.0)
    assert_same(make(PLAIN), adaptive)


def test_dynamic_with_a_constant_span_equals_adaptive():
    dynamic = make(
        {
            **PLAIN,
            "span": {"name": "dynamic", "limit": 8, "ramp": 3, "penalty_weight": 0.0, "start": 0.0},
        }
    )
    adaptive = make(
        {**PLAIN, "span": {"name": "adaptive", "limit": 8, "ramp": 3, "penalty_weight": 0.0}}
    )
    for learned, computed in zip(adaptive.attentions, dynamic.attentions, strict=True):
        # z = 3.5: at whole numbers the two sides of a derivative differ
        learned.span.fraction.data.fill_(0.4375)
        computed.span.weight.data.zero_()
        computed.span.bias.data.fill_(math.log(0.4375 / 0.5625))
    assert_same(adaptive, dynamic)
