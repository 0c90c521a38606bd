"""Attention to a whole sequence: padding, empty rows, both directions, and what it cannot
compute.
"""

from itertools import product

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from models.attention.choice import Shape
from models.attention.layers import CHOICES, SequenceAttention, build_choice
from tests._nets import PAIRS, example, label

PLAIN = {"span": {"name": "full", "cache": 9}, "position": {"name": "none"}}
ROWS = [
    PLAIN
    | {
        "selection": example("selection", selection),
        "normaliser": example("normaliser", normaliser),
    }
    for selection, normaliser in product(CHOICES["selection"], CHOICES["normaliser"])
]
SOFTMAX = PLAIN | {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}
SHAPE = Shape(12, 3)
each_direction = pytest.mark.parametrize(
    "attention, reads_itself",
    [(row, False) for row in ROWS] + [(row, True) for row in (*ROWS, *PAIRS)],
    ids=lambda value: (
        label(value) if isinstance(value, dict) else ("itself" if value else "another")
    ),
)
both = pytest.mark.parametrize("reads_itself", [True, False])


def layer_of(attention, reads_itself, shape=SHAPE, seed=0):
    torch.manual_seed(seed)
    choices = [build_choice(axis, attention[axis], shape) for axis in CHOICES]
    return SequenceAttention(shape, *choices, reads_itself=reads_itself).double()


def draw(*shape, seed=1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def weights_of(layer, x, source, visible):
    """Return the weights B h T N, read off values that are the rows of the identity."""
    k, _ = layer.project(source)
    values = torch.eye(source.size(1), dtype=torch.float64).expand(*k.shape[:2], -1, -1)
    layer.merge = lambda y: y
    return layer(x, (k, values), visible)


PADDED = torch.tensor([[True] * 6, [True, True, True, True, False, False]])


@each_direction
def test_weights_are_of_what_is_visible_whatever_stands_in_padding(attention, reads_itself):
    source = draw(2, 6, 12)
    x = source if reads_itself else draw(2, 4, 12, seed=2)
    changed = torch.where(PADDED[..., None], source, 100 * draw(2, 6, 12, seed=3))
    layer = layer_of(attention, reads_itself)
    before, after = (layer(x, layer.project(sequence), PADDED) for sequence in (source, changed))
    assert torch.equal(before, after)
    weights = weights_of(layer, x, source, PADDED)
    seen = PADDED[:, None] if reads_itself else torch.ones(1)  # padding itself sees nothing
    if layer.normaliser.sums_to_one:
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]) * seen)
    assert weights[1, :, :, 4:].abs().max() == 0 and weights.min() >= 0


@each_direction
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(attention, reads_itself):
    layer = layer_of(attention, reads_itself)
    source = draw(2, 6, 12).requires_grad_()
    x = source if reads_itself else draw(2, 4, 12, seed=2).requires_grad_()
    visible = torch.tensor([[True] * 6, [False] * 6])
    y = layer(x, layer.project(source), visible)
    assert y[1].abs().max() == 0 and y[0].abs().max() > 0
    y.square().sum().backward()
    for tensor in (source, x, *layer.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()
    assert source.grad[0].abs().sum() > 0 and source.grad[1].abs().sum() == 0


@both
def test_softmax_over_everything_is_the_frameworks_attention(reads_itself):
    layer, x, source = (
        layer_of(SOFTMAX, reads_itself, Shape(12, 3, 5, 7)),
        draw(2, 6, 12),
        draw(2, 6, 12, seed=2),
    )
    source = x if reads_itself else source
    k, v = layer.project(source)
    theirs = scaled_dot_product_attention(layer.split(layer.query(x)), k, v, PADDED[:, None, None])
    ours, theirs, seen = (
        layer(x, (k, v), PADDED),
        layer.merge(theirs),
        PADDED if reads_itself else ...,
    )
    torch.testing.assert_close(ours[seen], theirs[seen])  # what padding itself sees is of no use
    assert k.shape == (2, 3, 6, 5) and v.shape == (2, 3, 6, 7)


@both
@pytest.mark.parametrize("k", [6, 7, 1000])
@pytest.mark.parametrize("normaliser", CHOICES["normaliser"])
def test_top_k_with_k_at_least_the_keys_equals_all(normaliser, k, reads_itself):
    attention = PLAIN | {"normaliser": {"name": normaliser}, "selection": {"name": "all"}}
    results = []
    for selection in ({"name": "all"}, {"name": "top_k", "k": k}):
        layer, x = (
            layer_of(attention | {"selection": selection}, reads_itself),
            draw(2, 6, 12).requires_grad_(),
        )
        y = layer(x, layer.project(x), PADDED)
        results.append((y, *torch.autograd.grad(y.square().sum(), [x, *layer.query.parameters()])))
    for everything, sparse in zip(*results, strict=True):
        torch.testing.assert_close(everything, sparse)


def test_distance_is_counted_both_ways_from_one():
    """By hand: zero queries, so p = m(|t - j| + 1) normalised; span 2 sees a word and its
    neighbours.
    """
    layer = layer_of(SOFTMAX | {"span": {"name": "fixed", "limit": 2}}, True)
    layer.query.weight.data.zero_()
    x = draw(1, 4, 12)
    weights = weights_of(layer, x, x, torch.ones(1, 4, dtype=torch.bool))[0, 0]
    third, half = 1 / 3, 1 / 2
    expected = [
        [half, half, 0, 0],
        [third, third, third, 0],
        [0, third, third, third],
        [0, 0, half, half],
    ]
    torch.testing.assert_close(weights, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("axis", ["span", "position"])
def test_what_needs_distances_is_refused_where_there_are_none(axis):
    for name, choice in CHOICES[axis].items():
        attention = SOFTMAX | {axis: example(axis, name)}
        if name in ("full", "none"):
            layer_of(attention, False)
        else:
            with pytest.raises(ValueError, match=f"{axis} {choice.__name__} .*valid: full, none"):
                layer_of(attention, False)
