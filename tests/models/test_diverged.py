"""A run whose scores are no longer numbers shows it, whatever code computes it and whatever its
choices are.

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
from models.attention.layers import CHOICES, SequenceAttention, StreamAttention, build_choice
from models.attention.variant import farthest
from tests._nets import PAIRS, example, label

BIG = 1e160
PLACE = 6
BLOCK = 7
FEW = 4  # queries that the compiled code computes otherwise in evaluation
QUERY = 0
KEY = 1
SHAPE = Shape(8, 2, 4, 3)
LEARNED = {"adaptive": "fraction", "dynamic": "bias"}  # what a span of each head is computed from
IMPLEMENTATIONS = {
    "definition": Definition,
    "band": lambda: Engine("band"),
    "compiled where it can": Engine,
}
each_implementation = pytest.mark.parametrize(
    "implementation", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS
)
each_pair = pytest.mark.parametrize("attention", PAIRS, ids=label)


def layer_of(attention: dict, implementation, kind: type = StreamAttention, **settings):
    """Make a layer in 64 bits in which nothing but the first head's scores goes beyond bounds."""
    torch.manual_seed(0)
    choices = [build_choice(axis, attention[axis], SHAPE) for axis in CHOICES]
    layer = kind(SHAPE, *choices, **settings).double()
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
    layer.implementation = implementation()
    return layer


def inputs(length: int = 19, streams: int = 2) -> torch.Tensor:
    """Draw inputs whose queries and keys in the first head are 0."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(streams, length, SHAPE.d_model, generator=generator).double()
    x[..., :2] = 0
    return x


def read(layer, x: torch.Tensor) -> torch.Tensor:
    """Read a stream in blocks: B T h dv, the outputs of each head."""
    past = layer.start(len(x))
    parts = []
    for block in x.split(BLOCK if layer.training else FEW, 1):
        y, past = layer.implementation.attend(layer, block, past)
        parts.append(y)
    return torch.cat(parts, 1)


def sees(layer, x: torch.Tensor) -> torch.Tensor:
    """Mark the queries of a stream whose first head sees the key at `PLACE`: B T."""
    T = x.size(1)
    t = torch.arange(T)
    distance = t - PLACE + layer.attends_self
    seen = (distance >= 1) & (distance <= farthest(layer, T))
    log_m = layer.span.log_mask(distance.clamp(min=1)[:, None], layer.span.extent(x))
    if log_m is not None:
        seen = seen & (log_m > -math.inf)[..., 0, :, 0]
    if layer.training and layer.span.limit is None:  # a full span sees what is cached
        first_cached = t // BLOCK * BLOCK - layer.span.cache
        seen = seen & (first_cached <= PLACE)
    if layer.span.first > PLACE:
        seen = torch.ones_like(seen)
    return seen.expand(len(x), -1)


@pytest.mark.parametrize("training", [True, False])
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
    with torch.set_grad_enabled(training):
        y = read(layer, x).detach()
    expected = sees(layer, x)
    assert 0 < expected.sum() < expected.numel()
    assert torch.equal(y[:, :, 0].isnan().all(-1), expected)
    assert y[:, :, 0][~expected].isfinite().all() and y[:, :, 1].isfinite().all()


@pytest.mark.parametrize("training", [True, False])
@each_implementation
@each_pair
def test_a_row_of_minus_infinity_alone_gives_0_and_finite_gradients(
    attention, implementation, training
):
    layer = layer_of(attention, implementation, attends_self=True).train(training)
    x = inputs()
    x[..., QUERY] = 1
    x[..., KEY] = -1
    if not training:
        with torch.no_grad():
            assert (read(layer, x)[:, :, 0] == 0).all()
        return
    x.requires_grad_()
    y = read(layer, x)
    assert (y[:, :, 0] == 0).all() and (y[:, :, 1] != 0).all()
    leaves = [x, *layer.parameters()]
    gradients = torch.autograd.grad(y.sum(), leaves, allow_unused=True)
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("reads_itself", [True, False])
@each_implementation
@pytest.mark.parametrize("normaliser", CHOICES["normaliser"])
@pytest.mark.parametrize("selection", CHOICES["selection"])
def test_sentences_show_it_too(selection, normaliser, implementation, reads_itself):
    attention = {
        "span": {"name": "full", "cache": 20},
        "selection": example("selection", selection),
        "normaliser": example("normaliser", normaliser),
        "position": {"name": "none"},
    }
    layer = layer_of(attention, implementation, SequenceAttention, reads_itself=reads_itself)
    layer.merge = lambda y: y  # the outputs of each head: B h T dv
    visible = torch.arange(9) < torch.tensor([[9], [9], [PLACE]])
    x = inputs(9, streams=3)
    x[:, 4, QUERY] = 1
    x[0, PLACE, KEY] = 1
    x[1, :, KEY] = -1
    x[2, PLACE, KEY] = 1
    y = layer.read(x, visible) if reads_itself else layer(x, layer.project(x), visible)
    infinite, nothing, padded = y[:, 0, 4]
    assert infinite.isnan().all() and (nothing == 0).all() and padded.isfinite().all()
    assert y[:, 1].isfinite().all()


@each_implementation
@pytest.mark.parametrize(
    "attention", [each for each in PAIRS if each["span"]["name"] in LEARNED], ids=label
)
def test_a_span_that_is_no_number_shows(attention, implementation):
    layer = layer_of(attention, implementation, attends_self=True)
    getattr(layer.span, LEARNED[attention["span"]["name"]]).data[0] = math.nan
    y = read(layer, inputs())
    assert y[:, :, 0].isnan().all() and y[:, :, 1].isfinite().all()


@pytest.mark.parametrize("bad", [math.inf, math.nan])
@pytest.mark.parametrize("name", CHOICES["normaliser"])
def test_a_normaliser_gives_a_row_of_nan_and_gradients_of_nan(name, bad):
    normaliser = CHOICES["normaliser"][name](SHAPE).double()
    rows = torch.tensor([[0.5, bad, -1.0, -math.inf], [0.5, 1.0, -1.0, -math.inf]]).double()
    kept = rows.expand(1, 2, 2, 4).clone().requires_grad_()
    p = normaliser(kept)
    (gradient,) = torch.autograd.grad(p.square().sum(), kept)
    for each in (p, gradient):
        assert each[..., 0, :].isnan().all() and each[..., 1, :].isfinite().all()
