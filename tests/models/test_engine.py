"""The engine against the definition: outputs and all gradients, whatever is combined."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as draw
from torch.testing import assert_close

from models.attention.choice import Shape
from models.attention.engine import band, groups
from models.attention.engine.engine import Engine
from models.attention.layers import StreamAttention
from tests._equivalence import SMALL, check_stream, inputs, layer_of, named

each_backend = pytest.mark.parametrize("backend", ["compiled", "band"])
each_selection = pytest.mark.parametrize("selection", ["all", "top_k"])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Cut a block into several chunks, and a layer into several groups of heads."""
    monkeypatch.setattr(band, "QUERIES", 3)
    monkeypatch.setattr(band, "CHUNK_BYTES", 600)
    monkeypatch.setattr(groups, "GROUP_COST", 40)
    monkeypatch.setattr(groups, "GROUP_COST_IN_EVALUATION", 1)
    groups.partition.cache_clear()


near = draw.integers(1, 11)
far = draw.integers(1, 150)
# short of a vector, one vector, several, and a rest
width = draw.sampled_from([2, 4, 8, 13, 16, 24, 40])


@pytest.mark.parametrize(
    "backend, length, cached",
    [
        ("compiled", near, 14),
        ("compiled", far, 220),
        ("band", near, 14),
    ],
)
def test_engine_equals_definition(backend, length, cached):
    """S, T and the cache's length are independent: a cache may be empty, or shorter than a span."""
    names = named(compiled=backend == "compiled").values()

    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(
        names=draw.tuples(*map(draw.sampled_from, names)),
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
        shape = Shape(6, 3, d_k, d_v)
        layer = layer_of(names, S, k, attends_self, seed, shape)
        B = 1 + seed % 3
        x, past = inputs(layer, T, M, B)
        check_stream(layer, x, past, backend)

    check()


@each_backend
def test_equal_scores_stay_however_many_there_are(backend):
    """The compiled code halves a range to find the k-th score: it must end where all are equal."""
    layer = layer_of(
        ("fixed", "top_k", "softmax", "none"),
        S=40,
        k=3,
        attends_self=True,
        seed=0,
    )
    layer.query.weight.data.zero_()
    x, past = inputs(layer, 7, 40, 2)
    y, _ = Engine(backend).attend(layer, x, past)
    (cached,) = past
    rows = torch.cat([cached.transpose(0, 1), x], 1)
    projected = layer.value(rows)
    values = layer.split(projected)
    seen = values[:, :, 1:41]
    assert_close(y[:, 0], seen.mean(2))


@pytest.mark.slow
@each_selection
@each_backend
def test_dropout_is_the_same_in_the_backward_pass(selection, backend):
    """Against finite differences, every call with the same random numbers."""
    layer = layer_of(
        ("adaptive", selection, "softmax", "relative"),
        S=6,
        k=3,
        attends_self=False,
        seed=1,
    )
    layer.dropout = 0.4
    x, past = inputs(layer, 5, 6, 1)

    def attend(x):
        torch.manual_seed(7)
        y, _ = Engine(backend).attend(layer, x, past)
        return y

    assert torch.autograd.gradcheck(attend, x.requires_grad_(), atol=1e-6)


@each_backend
def test_dropout_leaves_out_its_share_and_makes_the_rest_larger(backend):
    """The values are the inputs, and each input names its place: outputs are the weights."""
    layer = layer_of(
        ("full", "all", "softmax", "none"),
        S=64,
        k=1,
        attends_self=True,
        seed=0,
        shape=Shape(128, 3, 4, 128),
    )
    identity = torch.eye(128)
    layer.value.weight.data.copy_(identity.repeat(3, 1))
    places = torch.eye(128).double().expand(2, -1, -1)
    past = (places[:, :64].transpose(0, 1),)

    def weights(dropout: float) -> torch.Tensor:
        layer.dropout = dropout
        y, _ = Engine(backend).attend(layer, places[:, 64:], past)
        return y

    undropped = weights(0.0)
    torch.manual_seed(1)
    first = weights(0.25)
    second = weights(0.25)
    assert_close(first, torch.where(first > 0, undropped / 0.75, 0.0))
    seen = undropped > 0
    kept = first[seen] > 0
    kept_twice = kept & (second[seen] > 0)
    share = kept.double().mean()
    assert share == pytest.approx(0.75, abs=0.01)
    # draws are independent
    share_twice = kept_twice.double().mean()
    assert share_twice == pytest.approx(0.75**2, abs=0.01)


@each_backend
@pytest.mark.parametrize("shape", [SMALL, Shape(6, 4, 2, 4, key_heads=2)], ids=["own", "shared"])
def test_one_token_at_a_time_gives_the_numbers_of_a_block(shape, backend):
    """With each group of heads caching its own reach and no more, shared keys once."""
    engine = Engine(backend)
    layer = layer_of(
        ("adaptive", "all", "softmax", "relative"),
        S=9,
        k=1,
        attends_self=False,
        seed=4,
        shape=shape,
    )
    layer.eval()
    x = torch.randn(2, 30, 6).double()
    past = engine.start(layer, 2)
    block, _ = engine.attend(layer, x, past)
    one_by_one = []
    for token in x.split(1, 1):
        y, past = engine.attend(layer, token, past)
        one_by_one.append(y)
    assert_close(torch.cat(one_by_one, 1), block)
    z = 9 * layer.span.fraction
    reaches = {reach for _, reach in groups.head_groups(layer, z)}
    assert {len(part) for part in past} == reaches
    keys = past[::2]
    assert sum(part.size(2) for part in keys) == shape.key_heads


def fixed_span() -> StreamAttention:
    return layer_of(
        ("fixed", "all", "softmax", "relative"),
        S=6,
        k=1,
        attends_self=False,
        seed=2,
    )


def test_a_cache_that_is_read_twice_is_not_overwritten():
    """Neither by a second continuation of the stream nor by a copy of the layer."""
    engine = Engine()
    layer = fixed_span()
    _, past = engine.attend(layer, *inputs(layer, 4, 3, 2))
    x = torch.randn(2, 4, 6).double()
    other = torch.randn(2, 4, 6).double()
    first, after = engine.attend(layer, x, past)
    engine.attend(layer, other, past)
    for reader in (layer, deepcopy(layer)):
        again, _ = engine.attend(reader, x, past)
        assert_close(again, first)
    assert_close(after[0][-4:], x.transpose(0, 1))


def test_a_second_derivative_is_refused_rather_than_wrong():
    layer = fixed_span()
    x, past = inputs(layer, 4, 3, 2)
    x.requires_grad_()
    y, _ = Engine("compiled").attend(layer, x, past)
    total = y.square().sum()
    with pytest.raises(RuntimeError, match="second derivative"):
        torch.autograd.grad(total, x, create_graph=True)
