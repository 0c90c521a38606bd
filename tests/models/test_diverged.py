"""A run whose scores are no longer numbers shows it, whatever code and choices compute it.

The scores of the first of two heads are made by hand: the first input is its query and the second
its key, each times `BIG`, whose square is beyond the largest number. A query of 1 has a score of
+inf at a key of 1, of -inf at one of -1.
"""

import math

import pytest
import torch

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import CHOICES, SequenceAttention, StreamAttention
from models.attention.variant import farthest
from tests._models import PAIRS, PLAIN, build_choices, draw, example, label

BIG = 1e160
PLACE = 6
QUERY = 0
KEY = 1
SHAPE = Shape(8, 2, 4, 3)
# In evaluation the compiled code computes few queries otherwise.
BLOCK = {True: 7, False: 4}
LEARNED = {"adaptive": "fraction", "dynamic": "bias"}  # what a span of each head is computed from
IMPLEMENTATIONS = {
    "definition": Definition(),
    "band": Engine("band"),
    "compiled where it can": Engine(),
}
each_implementation = pytest.mark.parametrize(
    "implementation", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS
)
each_mode = pytest.mark.parametrize("training", [True, False])
each_pair = pytest.mark.parametrize("attention", PAIRS, ids=label)


def layer_of(attention: dict, implementation, kind: type = StreamAttention, **settings):
    """Make a layer in 64 bits in which nothing but the first head's scores goes beyond bounds."""
    layer = kind(SHAPE, *build_choices(attention, SHAPE), **settings).double()
    layer.implementation = implementation
    for linear, column in ((layer.query, QUERY), (layer.key, KEY)):
        linear.weight.data[:, :2] = 0
        linear.weight.data[: SHAPE.d_k] = 0
        linear.weight.data[2, column] = BIG  # a number that a rotary position hardly turns
    layer.value.weight.data[:, :2] = 0
    for name, parameter in layer.named_parameters():
        if name == "position.u":
            parameter.data[0] = 0  # a query of 0 stays one
        elif name.endswith("span.fraction"):
            parameter.data.copy_(torch.tensor([0.0, 0.5]).view(2, 1, 1))
        elif name.endswith("span.weight"):
            parameter.data.normal_()[:, :2] = 0
    return layer


def inputs(length: int = 19, streams: int = 2) -> torch.Tensor:
    """Draw inputs whose queries and keys in the first head are 0."""
    x = draw(streams, length, SHAPE.d_model)
    x[..., :2] = 0
    return x


def read(layer, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Read a stream in blocks: the outputs of each head, B T dv."""
    past = layer.start(len(x))
    parts = []
    with torch.set_grad_enabled(layer.training):
        for block in x.split(BLOCK[layer.training], 1):
            y, past = layer.implementation.attend(layer, block, past)
            parts.append(y)
    return torch.cat(parts, 1).unbind(2)


def sees(layer, x: torch.Tensor) -> torch.Tensor:
    """Mark the queries of a stream whose first head sees the key at `PLACE`: B T."""
    T = x.size(1)
    t = torch.arange(T)
    distance = t - PLACE + layer.attends_self
    seen = (distance >= 1) & (distance <= farthest(layer, T))
    z = layer.span.extent(x)
    log_m = layer.span.log_mask(distance.clamp(min=1)[:, None], z)
    if log_m is not None:
        of_first_head = log_m[..., 0, :, 0]
        seen = seen & (of_first_head > -math.inf)
    if layer.training and layer.span.limit is None:  # a full span sees what is cached
        block_start = t - t % BLOCK[True]
        first_cached = block_start - layer.span.cache
        seen = seen & (first_cached <= PLACE)
    if layer.span.first > PLACE:
        seen = torch.ones_like(seen)
    return seen.expand(len(x), -1)


@each_mode
@pytest.mark.parametrize("query, key", [(1.0, 1.0), (0.0, BIG)], ids=["+inf", "NaN"])
@each_implementation
@each_pair
def test_a_score_that_is_no_number_shows_in_the_rows_that_see_it_and_in_no_other(
    attention, implementation, query, key, training
):
    layer = layer_of(attention, implementation, attends_self=False).train(training)
    x = inputs()
    x[..., QUERY] = query
    x[:, PLACE, KEY] = key
    first, second = read(layer, x)
    expected = sees(layer, x)
    assert 0 < expected.sum() < expected.numel()
    assert torch.equal(first.isnan().all(-1), expected)
    assert first[~expected].isfinite().all()
    assert second.isfinite().all()


@each_mode
@each_implementation
@each_pair
def test_a_row_of_minus_infinity_alone_gives_0_and_finite_gradients(
    attention, implementation, training
):
    layer = layer_of(attention, implementation, attends_self=True).train(training)
    x = inputs()
    x[..., QUERY] = 1
    x[..., KEY] = -1
    first, second = read(layer, x.requires_grad_())
    assert (first == 0).all()
    assert (second != 0).all()
    if training:
        leaves = [x, *layer.parameters()]
        total = first.sum() + second.sum()
        for gradient in torch.autograd.grad(total, leaves, materialize_grads=True):
            assert gradient.isfinite().all()


@pytest.mark.parametrize("reads_itself", [True, False])
@each_implementation
@pytest.mark.parametrize("normaliser", CHOICES["normaliser"])
def test_sentences_show_it_too(normaliser, implementation, reads_itself):
    attention = PLAIN | {"normaliser": example("normaliser", normaliser)}
    layer = layer_of(attention, implementation, SequenceAttention, reads_itself=reads_itself)
    layer.merge = lambda y: y  # the outputs of each head: B h T dv
    lengths = torch.tensor([[9], [9], [PLACE]])
    visible = torch.arange(9) < lengths
    x = inputs(9, streams=3)
    x[:, 4, QUERY] = 1
    x[[0, 2], PLACE, KEY] = 1
    x[1, :, KEY] = -1
    y = layer.read(x, visible) if reads_itself else layer(x, layer.project(x), visible)
    infinite, nothing, padded = y[:, 0, 4]
    assert infinite.isnan().all()
    assert (nothing == 0).all()
    assert padded.isfinite().all()
    assert y[:, 1].isfinite().all()


@each_implementation
@pytest.mark.parametrize("span", LEARNED)
def test_a_span_that_is_no_number_shows(span, implementation):
    attention = PLAIN | {"span": example("span", span)}
    layer = layer_of(attention, implementation, attends_self=True)
    getattr(layer.span, LEARNED[span]).data[0] = math.nan
    first, second = read(layer, inputs())
    assert first.isnan().all()
    assert second.isfinite().all()
