"""The engine against the definition: outputs and all gradients, whatever is combined, whatever the
lengths.
"""

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as draw

from models.attention.choice import Shape
from models.attention.engine import band, groups
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from tests._equivalence import check_stream, inputs, layer_of, named
from tests._nets import make
from workflow.training.backends import chosen, prepare

CPU = torch.device("cpu")
BACKENDS = [("all", "compiled"), ("top_k", "compiled"), ("all", "band"), ("top_k", "band")]
each_backend = pytest.mark.parametrize("backend", ["compiled", "band"])
each_selection = pytest.mark.parametrize("selection, backend", BACKENDS)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Cut a block into several chunks, and a layer into several groups of heads."""
    monkeypatch.setattr(band, "QUERIES", 3)
    monkeypatch.setattr(band, "CHUNK_BYTES", 600)
    monkeypatch.setattr(groups, "GROUP_COST", 40)
    monkeypatch.setattr(groups, "GROUP_COST_IN_EVALUATION", 1)
    groups.partition.cache_clear()


def combination(compiled: bool):
    """Draw a name on each axis: any, or those that the compiled code knows."""
    return draw.tuples(*map(draw.sampled_from, named(compiled).values()))


near = draw.integers(1, 11)
far = draw.integers(1, 150)
# short of a vector, one vector, several, and a rest
width = draw.sampled_from([2, 4, 8, 13, 16, 24, 40])


@pytest.mark.parametrize(
    "backend, length, cached", [("compiled", near, 14), ("compiled", far, 220), ("band", near, 14)]
)
def test_engine_equals_definition(backend, length, cached):
    """S, T and the cache's length are independent: a cache may be empty, or shorter than a span."""

    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(
        names=combination(compiled=backend == "compiled"),
        S=length,
        T=length,
        M=draw.integers(0, cached),
        d_k=width,
        d_v=width,
        k=draw.integers(1, 30),
        attends_self=draw.booleans(),
        seed=near,
    )
    def check(names, S, T, M, d_k, d_v, k, attends_self, seed):
        layer = layer_of(names, S, k, attends_self, seed, Shape(6, 3, d_k, d_v))
        check_stream(layer, *inputs(layer, T, M, 1 + seed % 3), backend)

    check()


@pytest.mark.parametrize("z", [0.0, 2.0, 5.0, 5.5, 8.0], ids="z = {}".format)
@each_selection
def test_at_a_whole_span_the_derivative_is_that_from_the_left(z, selection, backend):
    """In the engine as in the definition; runs start at z = 0."""
    layer = layer_of(("adaptive", selection, "softmax", "relative"), 8, 4, False, 0)
    layer.span.fraction.data.fill_(z / 8)
    check_stream(layer, *inputs(layer, 7, 9, 2), backend)


@each_backend
def test_equal_scores_stay_however_many_there_are(backend):
    """The compiled code halves a range to find the k-th score: it must end where all are equal."""
    layer = layer_of(("fixed", "top_k", "softmax", "none"), 40, 3, True, 0)
    layer.query.weight.data.zero_()
    x, past = inputs(layer, 7, 40, 2)
    check_stream(layer, x, past, backend)
    y, _ = Engine(backend).attend(layer, x, past)
    rows = torch.cat([past[0].transpose(0, 1), x], 1)
    values = layer.split(layer.value(rows))
    torch.testing.assert_close(y[:, 0], values[:, :, 1:41].mean(2))


@pytest.mark.slow
@each_selection
def test_dropout_is_the_same_in_the_backward_pass(selection, backend):
    """Against finite differences, every call with the same random numbers."""
    layer = layer_of(("adaptive", selection, "softmax", "relative"), 6, 3, False, 1)
    layer.dropout = 0.4
    x, past = inputs(layer, 5, 6, 1)
    engine = Engine(backend)

    def attend(x):
        torch.manual_seed(7)
        y, _ = engine.attend(layer, x, past)
        return y

    evaluated, _ = engine.attend(layer.eval(), x, engine.start(layer, 1))
    layer.train()
    assert not torch.equal(attend(x), evaluated)
    assert torch.autograd.gradcheck(attend, x.requires_grad_(), atol=1e-6)


@each_backend
def test_dropout_leaves_out_its_share_and_makes_the_rest_larger(backend):
    """The values are the inputs, and each input names its place: outputs are the weights."""
    layer = layer_of(("full", "all", "softmax", "none"), 64, 1, True, 0, Shape(128, 3, 4, 128))
    layer.value.weight.data.copy_(torch.eye(128).repeat(3, 1))
    places = torch.eye(128).double().expand(2, -1, -1)
    past = (places[:, :64].transpose(0, 1),)

    def weights():
        y, _ = Engine(backend).attend(layer, places[:, 64:], past)
        return y

    undropped = weights()
    layer.dropout = 0.25
    torch.manual_seed(1)
    first = weights()
    second = weights()
    torch.testing.assert_close(first, torch.where(first > 0, undropped / 0.75, 0.0))
    seen = undropped > 0
    kept = (first[seen] > 0).double().mean()
    kept_twice = (first[seen] * second[seen] > 0).double().mean()
    assert kept == pytest.approx(0.75, abs=0.01)
    assert kept_twice == pytest.approx(0.75**2, abs=0.01)  # draws are independent


@each_backend
def test_one_character_at_a_time_gives_the_numbers_of_a_block(backend):
    """With each group of heads caching its own reach and no more."""
    engine = Engine(backend)
    layer = layer_of(("adaptive", "all", "softmax", "relative"), 9, 1, False, 4).eval()
    x = torch.randn(2, 30, 6).double()
    past = engine.start(layer, 2)
    block, _ = engine.attend(layer, x, past)
    one_by_one = []
    for character in x.split(1, 1):
        y, past = engine.attend(layer, character, past)
        one_by_one.append(y)
    torch.testing.assert_close(torch.cat(one_by_one, 1), block, rtol=1e-10, atol=1e-12)
    reaches = {reach for _, reach in groups.head_groups(layer, 9 * layer.span.fraction)}
    assert {len(part) for part in past} == reaches


def test_a_cache_that_is_read_twice_is_not_overwritten():
    """Neither by a second continuation of the stream nor by a copy of the layer."""
    engine = Engine()
    layer = layer_of(("fixed", "all", "softmax", "relative"), 6, 1, False, 2)
    _, past = engine.attend(layer, *inputs(layer, 4, 3, 2))
    x = torch.randn(2, 4, 6).double()
    first, after = engine.attend(layer, x, past)
    engine.attend(layer, torch.randn(2, 4, 6).double(), past)
    for reader in (layer, deepcopy(layer)):
        again, _ = engine.attend(reader, x, past)
        torch.testing.assert_close(again, first)
    torch.testing.assert_close(after[0][-4:], x.transpose(0, 1))


def test_the_layers_of_a_model_share_one_implementation_once_it_is_prepared():
    model = make(
        {
            "span": {"name": "fixed", "limit": 6},
            "selection": {"name": "all"},
            "normaliser": {"name": "softmax"},
            "position": {"name": "relative", "limit": 6},
        }
    )
    first, second = (layer.implementation for layer in model.attentions)
    assert first is not second and first.backend.name == "auto"
    for name, kind in (("band", Engine), ("definition", Definition)):
        prepare(model, name, CPU, torch.float64)
        first, second = (layer.implementation for layer in model.attentions)
        assert first is second and isinstance(first, kind)
    assert chosen(model) == ["definition"]


@pytest.mark.parametrize(
    "cost, expected",
    [
        (10, [((0, 2), 4), ((1,), 20)]),
        (0, [((0,), 3), ((2,), 4), ((1,), 20)]),
        (1000, [((0, 1, 2), 20)]),
    ],
)
def test_heads_of_like_reach_share_a_group(cost, expected):
    """By hand: at a cost of 10 keys, 3 and 4 keys cost less together, 20 apart from them."""
    assert groups.partition((3, 20, 4), cost) == expected


@pytest.mark.parametrize("selection", ["all", "top_k"])
def test_a_second_derivative_is_refused_rather_than_wrong(selection):
    layer = layer_of(("fixed", selection, "softmax", "relative"), 6, 1, False, 2)
    x, past = inputs(layer, 4, 3, 2)
    y, _ = Engine("compiled").attend(layer, x.requires_grad_(), past)
    with pytest.raises(RuntimeError, match="second derivative"):
        torch.autograd.grad(y.square().sum(), x, create_graph=True)
