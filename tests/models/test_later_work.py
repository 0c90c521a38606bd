"""What came after the three papers, compared with computations of its formulas by other means."""

import math

import pytest
import torch
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import CHOICES
from tests._equivalence import SMALL, layer_of, results
from tests._models import draw


def test_a_rotary_position_multiplies_complex_numbers():
    """RoFormer, section 3.2.1: the real part of q e^(i t theta) (k e^(i j theta))*."""
    rotary = CHOICES["position"]["rotary"](Shape(4, 1))
    q = draw(5, 4)
    k = draw(6, 4)
    t = torch.arange(5)
    j = torch.arange(6)
    theta = torch.tensor([1.0, 0.01], dtype=torch.float64)
    distance = t[:, None] - j
    turns = torch.exp(1j * distance[..., None] * theta)
    complex_q = torch.view_as_complex(q.view(5, 1, 2, 2))
    complex_k = torch.view_as_complex(k.view(6, 2, 2))
    products = complex_q * complex_k.conj() * turns
    expected = products.sum(-1).real
    turned_q = rotary.turn(q, t)
    turned_k = rotary.turn(k, j)
    assert_close(turned_q @ turned_k.mT, expected)


def test_alibi_has_the_slopes_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, .. 1/256."""
    distance = torch.arange(1, 6)
    bias = CHOICES["position"]["alibi"](Shape(16, 8)).bias(distance)
    for head in range(8):
        slope = 2.0 ** -(head + 1)
        expected = bias[head, 0] - slope * (distance - 1).double()
        assert_close(bias[head], expected)


def test_softmax_one_is_softmax_with_a_key_that_says_nothing():
    made = CHOICES["normaliser"]["softmax_one"](SMALL)
    for offset in (-800, 0, 800):
        z = offset + draw(3, 7)
        nothing = torch.zeros(3, 1).double()
        p = torch.cat([z, nothing], -1).softmax(-1)
        assert_close(made(z), p[:, :-1])
    assert (made(draw(3, 7) - 800) == 0).all()  # a head can say nothing


def test_a_sigmoid_weighs_each_key_by_itself():
    z = draw(3, 7)
    z[0, 4:] = -math.inf
    p = CHOICES["normaliser"]["sigmoid"](SMALL)(z)
    kept = torch.tensor([[4.0], [7.0], [7.0]]).double()
    assert_close(p, 1 / (1 + kept * (-z).exp()))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_top_p_keeps_the_fewest_keys_that_have_the_share(p):
    scores = (3 * draw(20, 9)).sort(descending=True).values
    weights = scores.softmax(-1)
    share_before = weights.cumsum(-1) - weights
    expected = scores.masked_fill(share_before >= p, -math.inf)
    order = torch.randperm(9)
    top_p = CHOICES["selection"]["top_p"](SMALL, p=p)
    kept = top_p(scores[:, order])
    assert torch.equal(kept, expected[:, order])


@pytest.mark.parametrize("position", ["none", "relative", "rotary", "alibi", "transformer_xl"])
@pytest.mark.parametrize("attends_self", [True, False])
def test_sinks_attend_within_a_cache_of_the_first_keys_and_the_last(position, attends_self):
    """Token by token, as StreamingLLM does: places are those in a cache without its middle."""
    S = 4
    n = 2
    shape = Shape(6, 3, 4, 4)
    made = layer_of(("sinks", "all", "softmax", position), S, 1, attends_self, 3, shape).eval()
    full = layer_of(("full", "all", "softmax", position), S, 1, attends_self, 3, shape)
    full.load_state_dict(made.state_dict())
    full.span.cache = 99
    if position == "relative":  # the table ends at S: what is farther counts as S

        def keys(window: int):
            distance = torch.arange(window, 0, -1)
            return made.position.table[:, -distance.clamp(max=S)]

        full.position.keys = keys
        full.position.limit = None
    x = draw(2, 17, 6)
    empty = (x.new_empty(0, 2, 6),)
    past = made.start(2)
    with torch.no_grad():
        for t in range(17):
            y, past = made(x[:, [t]], past)
            seen = list(range(t + attends_self))
            if len(seen) > n + S:
                seen = seen[:n] + seen[-S:]
            rows = seen if attends_self else [*seen, t]
            by_head, _ = Definition().attend(full, x[:, rows], empty)
            expected = full.out(by_head.flatten(2))
            assert_close(y[:, 0], expected[:, -1])


@pytest.mark.parametrize("span", ["full", "adaptive"])
@pytest.mark.parametrize("selection", ["all", "top_k"])
@pytest.mark.parametrize("position", ["rotary", "transformer_xl"])
@pytest.mark.parametrize("key_heads", [1, 2])
def test_shared_keys_are_the_same_keys_for_each_head(key_heads, span, selection, position):
    """A layer of four heads whose keys are repeated by hand; the gradients of repeats add up."""
    names = (span, selection, "softmax", position)
    shared = layer_of(names, 9, 3, True, 0, Shape(8, 4, 2, 2, key_heads))
    own = layer_of(names, 9, 3, True, 0, Shape(8, 4, 2, 2))
    sharing = 4 // key_heads
    for name, weight in shared.state_dict().items():
        if name in ("key.weight", "value.weight"):
            by_head = weight.unflatten(0, (key_heads, -1))
            weight = by_head.repeat_interleave(sharing, 0).flatten(0, 1)
        own.state_dict()[name].copy_(weight)
    x = draw(2, 6, 8)
    past = (draw(7, 2, 8),)

    def compute(made) -> dict:
        def attend(x):
            y, _ = Engine().attend(made, x, past)
            return made.out(y.flatten(2))

        return results(attend, made, draw(2, 6, 8), x)

    expected = compute(own)
    for name in ("key.weight", "value.weight"):
        by_head = expected[name].unflatten(0, (key_heads, sharing, -1))
        expected[name] = by_head.sum(1).flatten(0, 1)
    assert_close(compute(shared), expected)
