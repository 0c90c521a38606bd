"""The engine against the definition: outputs and all gradients, whatever is combined, whatever the lengths."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from models.attention import AXES, choose, definition
from models.attention.choice import Shape
from models.attention.engine import backend as dispatch
from models.attention.engine import chunks, engine
from models.attention.engine.band import attend_band
from models.attention.engine.head_groups import HeadGroup
from models.attention.stream_attention import StreamAttention
from tests._jobs import VARIANTS, job
from tests._nets import make
from workflow.costs.streams import count
from workflow.costs.trained_net import fresh

CPU = torch.device("cpu")
WAYS = [("all", "band"), ("all", "small"), ("top_k", "band"), ("top_k", "small"), ("top_k", "gathered")]
SETTINGS = {
    "fixed": lambda S: {"limit": S},
    "adaptive": lambda S: {"limit": S, "ramp": min(3, S), "penalty_weight": 0.0},
    "dynamic": lambda S: {"limit": S, "ramp": min(3, S), "penalty_weight": 0.0},
    "full": lambda S: {"cache": S},
    "relative": lambda S: {"limit": S},
}


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Several chunks of queries and of streams to a block, several buckets to a layer."""
    monkeypatch.setattr(chunks, "QUERIES", 3)
    monkeypatch.setattr(chunks, "SCRATCH_BYTES", 600)
    monkeypatch.setattr(engine, "COST", 40)
    monkeypatch.setattr(engine, "COST_IN_EVALUATION", 1)
    engine._partition.cache_clear()
    yield
    dispatch.force("auto")


def layer_of(names: tuple, S: int, k: int, attends_self: bool, seed: int) -> StreamAttention:
    """A layer in double precision, its spans and alphas anywhere."""
    torch.manual_seed(seed)
    shape = Shape(6, 3, 2, 4)
    offered = [SETTINGS.get(name, lambda S: {})(S) | ({"k": k} if name == "top_k" else {}) for name in names]
    chosen = [choose(axis, {"name": name, **one}, shape) for axis, name, one in zip(AXES, names, offered, strict=True)]
    made = StreamAttention(shape, *chosen, attends_self=attends_self).double()
    for name, parameter in made.named_parameters():
        if name.endswith(("fraction", "normaliser.a")):
            parameter.data.uniform_(0, 1)
        if name.startswith("span.") and not name.endswith("fraction"):
            parameter.data.normal_()
    return made


def results(way, layer, x, past, direction) -> dict[str, torch.Tensor]:
    """The output, and the gradients of the input and of every parameter."""
    x = x.clone().requires_grad_()
    y, _ = way.attend(layer, x, past)
    leaves = {"x": x, **dict(layer.named_parameters())}
    found = torch.autograd.grad((y * direction).sum(), list(leaves.values()), allow_unused=True)
    return {"y": y.detach()} | {name: one for name, one in zip(leaves, found, strict=True) if one is not None}


def same(layer, x, past, **bounds) -> None:
    direction = torch.randn(*x.shape[:2], layer.shape.heads, layer.shape.d_v, dtype=x.dtype)
    oracle, ours = (results(way, layer, x, past, direction) for way in (definition, engine))
    for name, one in oracle.items():
        other = ours.get(name, torch.zeros_like(one))
        torch.testing.assert_close(other, one, rtol=1e-9, atol=1e-9, msg=lambda m, n=name: f"{n}: {m}")


def inputs(layer, T: int, M: int, B: int) -> tuple:
    width = layer.shape.d_model
    return torch.randn(B, T, width).double(), (torch.randn(M, B, width).double(),)


combination = some.tuples(*(some.sampled_from(sorted(AXES[axis])) for axis in AXES))
length = some.integers(1, 11)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(combination, length, length, some.integers(0, 14), some.integers(1, 3), some.integers(1, 5), some.data())
def test_engine_equals_definition(names, S, T, M, B, k, data):
    """S, T and the memory's length have nothing to do with each other: a cache may be empty, or shorter than a span."""
    layer = layer_of(names, S, k, data.draw(some.booleans()), data.draw(some.integers(0, 99)))
    ways = ["band", "small", "gathered"] if names[1] == "top_k" else ["band", "small"]
    dispatch.force(data.draw(some.sampled_from(ways)))
    keep = engine.KEEP_BYTES
    engine.KEEP_BYTES = data.draw(some.sampled_from([0, keep]))  # weights computed again, or kept
    try:
        same(layer, *inputs(layer, T, M, B))
    finally:
        engine.KEEP_BYTES = keep
        dispatch.force("auto")


@pytest.mark.parametrize("z", [0.0, 2.0, 5.0, 5.5, 8.0], ids="z = {}".format)
@pytest.mark.parametrize("selection, way", WAYS)
def test_whole_spans_and_none(z, selection, way):
    """At a whole z the derivative is that from the left, in the engine as in the definition; runs start at z = 0."""
    layer = layer_of(("adaptive", selection, "softmax", "relative"), 8, 4, False, 0)
    layer.span.fraction.data.fill_(z / 8)
    dispatch.force(way)
    same(layer, *inputs(layer, 7, 9, 2))


def test_ties_with_the_kth_score_stay():
    """All scores alike: top-1 keeps every key, in the kept keys as in the band."""
    layer = layer_of(("fixed", "top_k", "softmax", "none"), 6, 1, True, 0)
    layer.query.weight.data.zero_()
    dispatch.force("gathered")
    same(layer, *inputs(layer, 7, 5, 2))


def test_spans_that_grow_past_the_cache_see_what_is_there():
    layer = layer_of(("adaptive", "all", "softmax", "relative"), 200, 1, False, 0)
    layer.span.fraction.data.zero_()
    x, past = inputs(layer, 5, 0, 2)
    for fraction in (0.0, 0.0, 0.9):
        layer.span.fraction.data.fill_(fraction)
        same(layer, x, past)
        _, past = engine.attend(layer, x, past)


@pytest.mark.parametrize("keep", [0, 1 << 20])
@pytest.mark.parametrize("selection, way", WAYS)
def test_dropout_is_the_same_on_the_way_back(selection, way, keep, monkeypatch):
    """Against finite differences, the random numbers of every call set to the same."""
    monkeypatch.setattr(engine, "KEEP_BYTES", keep)
    layer = layer_of(("adaptive", selection, "softmax", "relative"), 6, 3, False, 1)
    layer.dropout, (x, past) = 0.4, inputs(layer, 5, 6, 1)
    dispatch.force(way)

    def attend(x):
        torch.manual_seed(7)
        return engine.attend(layer, x, past)[0]

    assert not torch.equal(attend(x), engine.attend(layer.eval(), x, engine.start(layer, 1))[0])
    layer.train()
    assert torch.autograd.gradcheck(attend, x.requires_grad_(), atol=1e-6)


def test_dropout_leaves_weights_out_or_makes_them_larger():
    """Values that name their keys tell the weights: 0 or p / (1 - drop)."""
    torch.manual_seed(0)
    B, g, T, K, W = 2, 3, 5, 11, 6
    span, everything, softmax = (choose(axis, one, Shape(6, 3)) for axis, one in PLAIN.items())
    bucket = HeadGroup(g, W, span, everything, softmax, W, attends_self=True, drop=0.5, seed=3)
    q = torch.randn(B, g, T, 2).double()
    k, v = torch.randn(K, B, g, 2).double(), torch.eye(K).double()[:, None, None].expand(K, B, g, K).contiguous()
    plain = attend_band(HeadGroup(g, W, span, everything, softmax, W, attends_self=True), q, None, k, v, None, None, [])
    dropped = attend_band(bucket, q, None, k, v, None, None, [])
    torch.testing.assert_close(dropped, torch.where(dropped > 0, 2 * plain, 0.0))
    assert 0.3 < (dropped > 0).sum() / (plain > 0).sum() < 0.7


PLAIN = {"span": {"name": "fixed", "limit": 6}, "selection": {"name": "all"}, "normaliser": {"name": "softmax"}}


@pytest.mark.parametrize("span", ["fixed", "adaptive", "dynamic"])
def test_one_character_at_a_time_gives_the_numbers_of_a_block(span):
    """With each bucket remembering its own reach and no more."""
    layer = layer_of((span, "all", "softmax", "relative"), 9, 1, False, 4).eval()
    x, past = torch.randn(2, 30, 6).double(), engine.start(layer, 2)
    block, _ = engine.attend(layer, x, past)
    one_by_one = []
    for t in range(30):
        y, past = engine.attend(layer, x[:, t : t + 1], past)
        one_by_one.append(y)
    torch.testing.assert_close(torch.cat(one_by_one, 1), block, rtol=1e-10, atol=1e-12)
    if span == "adaptive":
        assert sorted({len(part) for part in past}) == sorted(
            {reach for _, reach in engine.buckets(layer, 9 * layer.span.fraction)}
        )


def test_a_memory_that_is_read_twice_is_not_overwritten():
    """Two continuations of one stream: the second must not find what the first appended."""
    layer = layer_of(("fixed", "all", "softmax", "relative"), 6, 1, False, 2)
    _, past = engine.attend(layer, *inputs(layer, 4, 3, 2))
    x, other = (torch.randn(2, 4, 6).double() for _ in range(2))
    first, after = engine.attend(layer, x, past)
    engine.attend(layer, other, past)
    torch.testing.assert_close(engine.attend(layer, x, past)[0], first)
    torch.testing.assert_close(after[0][-4:], x.transpose(0, 1))


def test_an_engine_that_cannot_compute_what_is_asked_says_why():
    layer = layer_of(("fixed", "all", "softmax", "relative"), 6, 1, False, 2)
    for name, why in (("gathered", "top_k alone"), ("triton", "a GPU")):
        dispatch.force(name)
        with pytest.raises(ValueError, match=f"engine '{name}' was asked for: .*{why}"):
            engine.attend(layer, *inputs(layer, 4, 3, 2))
    with pytest.raises(ValueError, match="unknown engine 'bnad'; valid: auto, band"):
        dispatch.force("bnad")


def test_what_was_chosen_is_noted():
    dispatch.NOTED.clear()
    net = make({**PLAIN, "position": {"name": "relative", "limit": 6}})
    net(torch.zeros(2, 7, dtype=torch.long), net.start(2))
    dispatch.force("band")
    net(torch.zeros(2, 7, dtype=torch.long), net.start(2))
    asked = "cpu float64: Fixed All Softmax, reach <= 8, T <= 8, backward"
    assert dispatch.told() == {f"{asked}: small": 2, f"{asked}, weights kept: band": 2}


@pytest.mark.filterwarnings("ignore")
def test_gathered_keys_are_counted_as_they_are_computed():
    dispatch.force("gathered")
    made = job(**VARIANTS["top_k"])
    found = count(made, fresh(made, CPU, 7), CPU)
    assert found["macs_torch"] == found["macs_analytic"]
    assert found["macs_fvcore"] == pytest.approx(found["macs_analytic"], rel=0.01)


def test_a_copied_layer_remembers_for_itself():
    layer = layer_of(("fixed", "all", "softmax", "relative"), 6, 1, False, 2)
    _, past = engine.attend(layer, *inputs(layer, 4, 3, 2))
    x, other = torch.randn(2, 4, 6).double(), deepcopy(layer)
    torch.testing.assert_close(engine.attend(other, x, past)[0], engine.attend(layer, x, past)[0])


def test_heads_of_like_reach_share_a_bucket():
    """A bucket more costs 10 keys here: 3 + 4 keys of two heads cost less together, 20 apart from them."""
    assert engine._partition((3, 20, 4), 10) == [((0, 2), 4), ((1,), 20)]
    assert engine._partition((3, 20, 4), 0) == [((0,), 3), ((2,), 4), ((1,), 20)]
    assert engine._partition((3, 20, 4), 1000) == [((0, 1, 2), 20)]


@pytest.mark.parametrize("selection", ["all", "top_k"])
def test_16_bits_where_a_run_computes_in_them(selection):
    """As on a GPU: products and memories in 16 bits, gradients of 32 for the parameters, near those of 32."""
    layer = layer_of(("adaptive", selection, "softmax", "relative"), 6, 3, False, 2).float()
    x, past = torch.randn(2, 5, 6), (torch.randn(7, 2, 6),)
    direction = torch.randn(2, 5, 3, 4)
    oracle = results(engine, layer, x, past, direction)
    with torch.autocast("cpu", torch.bfloat16):
        y, after = engine.attend(layer, x, past)
        ours = results(engine, layer, x, past, direction)
    assert y.dtype == after[0].dtype == torch.bfloat16
    for name, one in oracle.items():
        assert ours[name].dtype == (torch.bfloat16 if name == "y" else torch.float32)
        if selection == "all":  # rounding may change which keys are kept
            torch.testing.assert_close(ours[name].float(), one, rtol=0, atol=0.1 * one.abs().max().item(), msg=name)


def test_buckets_in_evaluation_are_those_that_the_memory_was_made_for():
    """Spans that change between two blocks: each head goes on with its own keys."""
    layer = layer_of(("adaptive", "all", "softmax", "none"), 30, 1, False, 2).eval()
    layer.span.fraction.data.copy_(torch.tensor([0.0, 0.0, 0.9]).view(3, 1, 1))
    x, past = torch.randn(2, 20, 6).double(), engine.start(layer, 2)
    _, past = engine.attend(layer, x, past)
    layer.span.fraction.data.copy_(torch.tensor([0.9, 0.0, 0.0]).view(3, 1, 1))
    before, _ = engine.attend(layer, x[:, :5], past)
    k, _ = engine.every_key(layer, x[:, :5], past)
    assert (k[:, 2] != 0).all() and (k[:, 0, :10] == 0).all()  # the head that saw far has its keys, the new one has few
    assert before.isfinite().all()


@pytest.mark.parametrize("selection, way", WAYS)
def test_a_second_derivative_is_refused_rather_than_wrong(selection, way):
    layer = layer_of(("fixed", selection, "softmax", "relative"), 6, 1, False, 2)
    x, past = inputs(layer, 4, 3, 2)
    dispatch.force(way)
    y, _ = engine.attend(layer, x.requires_grad_(), past)
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.grad(y.square().sum(), x, create_graph=True)


@pytest.mark.parametrize("normaliser", ["softmax", "sparsemax", "entmax15", "entmax_alpha"])
def test_gathered_weights_may_have_more_bits_than_scores(normaliser):
    layer = layer_of(("fixed", "top_k", normaliser, "relative"), 6, 3, True, 2).float()
    dispatch.force("gathered")
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = engine.attend(layer, torch.randn(2, 5, 6), (torch.randn(7, 2, 6),))
    y.sum().backward()
    assert all(one.grad.isfinite().all() for one in layer.parameters() if one.grad is not None)
