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
# what a span of each head is computed from
LEARNED = {"adaptive": "fraction", "dynamic": "bias"}
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
    choices = build_choices(attention, SHAPE)
    layer = kind(SHAPE, *choices, **settings).double()
    layer.implementation = implementation
    for linear, column in ((layer.query, QUERY), (layer.key, KEY)):
        weight = linear.weight.data
        weight[:, :2] = 0
        weight[: SHAPE.d_k] = 0
        # a number that a rotary position hardly turns
        weight[2, column] = BIG
    layer.value.weight.data[:, :2] = 0
    for name, parameter in layer.named_parameters():
        values = parameter.data
        if name == "position.u":
            # a query of 0 stays one
            values[0] = 0
        elif name.endswith("span.fraction"):
            values[0] = 0
            values[1] = 0.5
        elif name.endswith("span.weight"):
            values.normal_()
            values[:, :2] = 0
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
    earlier = distance >= 1
    near = distance <= farthest(layer, T)
    seen = earlier & near
    span = layer.span
    z = span.extent(x)
    at_least_one = distance.clamp(min=1)
    log_m = span.log_mask(at_least_one[:, None], z)
    if log_m is not None:
        of_first_head = log_m[..., 0, :, 0]
        seen = seen & (of_first_head > -math.inf)
    if layer.training and span.limit is None:
        # a full span sees what is cached
        block_start = t - t % BLOCK[True]
        first_cached = block_start - span.cache
        seen = seen & (first_cached <= PLACE)
    if span.first > PLACE:
        seen = torch.ones_like(seen)
    return seen.expand(len(x), -1)


@each_mode
@pytest.mark.parametrize(
    "query, key",
    [
        pytest.param(1.0, 1.0, id="+inf"),
        pytest.param(0.0, BIG, id="NaN"),
    ],
)
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
    assert expected.any()
    assert not expected.all()
    shown = first.isnan().all(-1)
    assert torch.equal(shown, expected)
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
        gradients = torch.autograd.grad(total, leaves, materialize_grads=True)
        for gradient in gradients:
            assert gradient.isfinite().all()


@pytest.mark.parametrize("reads_itself", [True, False])
@each_implementation
@pytest.mark.parametrize("normaliser", CHOICES["normaliser"])
def test_sentences_show_it_too(normaliser, implementation, reads_itself):
    attention = PLAIN | {"normaliser": example("normaliser", normaliser)}
    layer = layer_of(attention, implementation, SequenceAttention, reads_itself=reads_itself)
    layer.merge = lambda y: y  # the outputs of each head: B h T dv
    visible = torch.ones(3, 9, dtype=torch.bool)
    visible[2, PLACE:] = False
    x = inputs(9, streams=3)
    infinite, nothing, padded = x
    x[:, 4, QUERY] = 1
    infinite[PLACE, KEY] = 1
    nothing[:, KEY] = -1
    padded[PLACE, KEY] = 1
    memory = layer.project(x)
    y = layer.read(x, visible) if reads_itself else layer(x, memory, visible)
    first, second = y.unbind(1)
    of_infinite, of_nothing, of_padded = first[:, 4]
    assert of_infinite.isnan().all()
    assert (of_nothing == 0).all()
    assert of_padded.isfinite().all()
    assert second.isfinite().all()


@each_implementation
@pytest.mark.parametrize("span", LEARNED)
def test_a_span_that_is_no_number_shows(span, implementation):
    attention = PLAIN | {"span": example("span", span)}
    layer = layer_of(attention, implementation, attends_self=True)
    learned = getattr(layer.span, LEARNED[span])
    learned.data[0] = math.nan
    first, second = read(layer, inputs())
    assert first.isnan().all()
    assert second.isfinite().all()
