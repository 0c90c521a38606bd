"""What came after the three papers, compared with computations of its formulas by other means."""

import math
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import CHOICES
from tests._equivalence import SMALL, layer_of, results
from tests._models import draw

SHARED = ("key.weight", "value.weight")


def test_a_rotary_position_multiplies_complex_numbers():
    """RoFormer, section 3.2.1: the real part of q e^(i t theta) (k e^(i j theta))*."""
    shape = Shape(4, 1)
    rotary = CHOICES["position"]["rotary"](shape)
    q = draw(5, 4)
    k = draw(6, 4)
    t = torch.arange(5)
    j = torch.arange(6)
    theta = torch.tensor([1.0, 0.01], dtype=torch.float64)
    distance = t.view(5, 1, 1) - j.view(6, 1)
    angles = distance * theta
    turns = torch.exp(1j * angles)
    pairs_of_q = q.view(5, 1, 2, 2)
    pairs_of_k = k.view(6, 2, 2)
    complex_q = torch.view_as_complex(pairs_of_q)
    complex_k = torch.view_as_complex(pairs_of_k)
    products = complex_q * complex_k.conj() * turns
    expected = products.sum(-1).real
    turned_q = rotary.turn(q, t)
    turned_k = rotary.turn(k, j)
    scores = turned_q @ turned_k.mT
    assert_close(scores, expected)


def test_alibi_has_the_slopes_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, .. 1/256."""
    distance = torch.arange(1, 6)
    shape = Shape(16, 8)
    alibi = CHOICES["position"]["alibi"](shape)
    farther = torch.arange(5).double()
    slope = 1.0
    for bias in alibi.bias(distance):
        slope /= 2
        nearest = bias[0]
        assert_close(bias, nearest - slope * farther)
    assert slope == 1 / 256


def test_softmax_one_is_softmax_with_a_key_that_says_nothing():
    made = CHOICES["normaliser"]["softmax_one"](SMALL)
    for offset in (-800, 0, 800):
        z = offset + draw(3, 7)
        nothing = torch.zeros(3, 1).double()
        with_nothing = torch.cat([z, nothing], -1)
        p = with_nothing.softmax(-1)
        assert_close(made(z), p[:, :-1])
    # a head can say nothing
    silent = made(draw(3, 7) - 800)
    assert not silent.any()


def test_a_sigmoid_weighs_each_key_by_itself():
    z = draw(3, 7)
    z[0, 4:] = -math.inf
    made = CHOICES["normaliser"]["sigmoid"](SMALL)
    kept = torch.tensor([4, 7, 7]).view(3, 1)
    odds = z.exp() / kept
    assert_close(made(z), odds / (1 + odds))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_top_p_keeps_the_fewest_keys_that_have_the_share(p):
    drawn = 3 * draw(20, 9)
    scores, _ = drawn.sort(descending=True)
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
    settings = {
        "S": S,
        "k": 1,
        "attends_self": attends_self,
        "seed": 3,
    }
    shape = Shape(
        d_model=6,
        heads=3,
        d_k=4,
        d_v=4,
    )
    made = layer_of(("sinks", "all", "softmax", position), **settings, shape=shape)
    full = layer_of(("full", "all", "softmax", position), **settings, shape=shape)
    made.eval()
    full.load_state_dict(made.state_dict())
    full.span.cache = 99
    # the table ends at S: what is farther counts as S
    if position == "relative":

        def keys(window: int):
            distance = torch.arange(window, 0, -1)
            nearest = distance.clamp(max=S)
            return made.position.table[:, -nearest]

        full.position.keys = keys
        full.position.limit = None
    x = draw(2, 17, 6)
    empty = (x.new_empty(0, 2, 6),)
    past = made.start(2)
    with torch.no_grad():
        for t in range(17):
            token = x[:, [t]]
            y, past = made(token, past)
            seen = list(range(t + attends_self))
            if len(seen) > n + S:
                sinks = seen[:n]
                recent = seen[-S:]
                seen = sinks + recent
            rows = seen
            if not attends_self:
                rows = [*seen, t]
            by_head, _ = Definition().attend(full, x[:, rows], empty)
            concatenated = by_head.flatten(2)
            expected = full.out(concatenated)
            assert_close(y[:, 0], expected[:, -1])


@pytest.mark.parametrize("span", ["full", "adaptive"])
@pytest.mark.parametrize("selection", ["all", "top_k"])
@pytest.mark.parametrize("position", ["rotary", "transformer_xl"])
@pytest.mark.parametrize("key_heads", [1, 2])
def test_shared_keys_are_the_same_keys_for_each_head(key_heads, span, selection, position):
    """A layer of four heads whose keys are repeated by hand; the gradients of repeats add up."""
    names = (span, selection, "softmax", position)
    settings = {
        "S": 9,
        "k": 3,
        "attends_self": True,
        "seed": 0,
    }
    shape = Shape(
        d_model=8,
        heads=4,
        d_k=2,
        d_v=2,
    )
    with_shared_keys = replace(shape, key_heads=key_heads)
    own = layer_of(names, **settings, shape=shape)
    shared = layer_of(names, **settings, shape=with_shared_keys)
    sharing = 4 // key_heads
    copied = own.state_dict()
    for name, weight in shared.state_dict().items():
        if name in SHARED:
            by_head = weight.unflatten(0, (key_heads, -1))
            repeated = by_head.repeat_interleave(sharing, 0)
            weight = repeated.flatten(0, 1)
        copied[name].copy_(weight)
    x = draw(2, 6, 8)
    past = (draw(7, 2, 8),)
    direction = draw(2, 6, 8)

    def compute(made) -> dict:
        def attend(x):
            y, _ = Engine().attend(made, x, past)
            concatenated = y.flatten(2)
            return made.out(concatenated)

        return results(attend, made, direction, x)

    found = compute(shared)
    expected = compute(own)
    for name in SHARED:
        by_head = expected[name].unflatten(0, (key_heads, sharing, -1))
        summed = by_head.sum(1)
        expected[name] = summed.flatten(0, 1)
    assert_close(found, expected)
