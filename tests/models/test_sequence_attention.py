"""Attention to a whole sequence: padding, both directions, and what it cannot compute."""

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine.backend import ENGINE_BACKENDS
from models.attention.engine.engine import Engine
from models.attention.layers import CHOICES, SequenceAttention
from tests._models import PLAIN, build_choices, draw, example

SHAPE = Shape(12, 3)


def layer_of(attention: dict, reads_itself: bool, shape=SHAPE):
    choices = build_choices(attention, shape)
    layer = SequenceAttention(shape, *choices, reads_itself=reads_itself)
    return layer.double()


@pytest.mark.parametrize("reads_itself", [True, False])
def test_softmax_over_everything_is_the_frameworks_attention(reads_itself):
    shape = Shape(12, 3, 5, 7)
    layer = layer_of(PLAIN, reads_itself, shape)
    x = draw(2, 6, 12)
    visible = torch.ones(2, 6, dtype=torch.bool)
    visible[1, 4:] = False
    source = x
    if not reads_itself:
        source = draw(2, 6, 12, seed=2)
    k, v = layer.project(source)
    q = layer.split(layer.query(x))
    mask = visible[:, None, None]
    of_heads = scaled_dot_product_attention(q, k, v, mask)
    theirs = layer.merge(of_heads)
    ours = layer(x, (k, v), visible)
    # what padding itself sees is of no use
    assert_close(ours[visible], theirs[visible])


def weights_of(layer, N: int) -> torch.Tensor:
    """Return the weights N N of the first head in a sentence, with queries of zero."""
    layer.query.weight.data.zero_()
    layer.merge = lambda y: y
    x = draw(1, N, 12)
    k, _ = layer.project(x)
    # values that are the rows of the identity
    identity = torch.eye(N, dtype=torch.float64)
    values = identity.expand(1, 3, N, N)
    visible = torch.ones(1, N, dtype=torch.bool)
    p = layer(x, (k, values), visible)
    return p[0, 0]


def test_distance_is_counted_both_ways_from_one():
    """By hand: a span of 2 weighs a word and its neighbours alike."""
    fixed = {"name": "fixed", "limit": 2}
    layer = layer_of(PLAIN | {"span": fixed}, True)
    third = 1 / 3
    expected = [
        [0.5, 0.5, 0, 0],
        [third, third, third, 0],
        [0, third, third, third],
        [0, 0, 0.5, 0.5],
    ]
    expected = torch.tensor(expected, dtype=torch.float64)
    assert_close(weights_of(layer, 4), expected)


@pytest.mark.parametrize("backend", ENGINE_BACKENDS)
@pytest.mark.parametrize("S", [1, 3, 9])
def test_the_first_words_of_a_sentence_are_near_from_both_sides(S, backend):
    """Word j of the first n is at most S + n - j far, from words before it too."""
    n = 4
    attention = {
        **PLAIN,
        "span": {"name": "sinks", "limit": S, "first": n},
        "position": {"name": "alibi"},
    }
    layer = layer_of(attention, True)
    layer.implementation = Engine(backend)
    j = torch.arange(8)
    query = j[:, None]
    far = 1 + (query - j).abs()
    at_most = S + n - j
    is_first = j < n
    near = torch.where(is_first, far.minimum(at_most), far)
    scores = layer.position.bias(near)[0]
    hidden = (far > S) & ~is_first
    scores = scores.masked_fill(hidden, -math.inf)
    expected = scores.softmax(-1)
    assert_close(weights_of(layer, 8), expected)


@pytest.mark.parametrize("axis", ["span", "position"])
def test_what_needs_distances_is_refused_where_there_are_none(axis):
    for name in CHOICES[axis]:
        if name in ("full", "none", "nope"):
            continue
        attention = PLAIN | {axis: example(axis, name)}
        with pytest.raises(ValueError, match=f"{axis} .*full, none"):
            layer_of(attention, False)
