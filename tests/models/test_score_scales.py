"""Score scales, and the choices that came with them, against NumPy: written from the formulas."""

from itertools import product

import numpy as np
import pytest
import torch

from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import SequenceAttention, build_choice
from tests.models._formula import (
    SHAPE,
    Named,
    attend,
    check_close,
    draw,
    gradient,
    layer_of,
    one_pass,
    parameters_of,
    project_all,
    scaled_product,
)

COEFFICIENTS = [-0.037, 0.481, -2.3, 4.917, -1.791]


@pytest.fixture(params=["definition", "band", "auto"])
def implementation(request):
    if request.param == "definition":
        return Definition()
    return Engine(request.param)


CASES = [
    Named("ssmax"),
    Named("asentmax"),
    Named("asentmax", "entmax15"),
    Named("asentmax", "entmax15", k=3),
    Named("ssmax", position="nope", S=4),
    Named("asentmax", "entmax15", S=3),
    Named("none", "learned_sink"),
    Named("none", "learned_sink", k=2, S=4),
]


@pytest.mark.parametrize("attends_self", [True, False])
@pytest.mark.parametrize("named", CASES, ids=str)
def test_values_and_gradients_are_those_of_the_formula(named, attends_self, implementation):
    layer = layer_of(named, attends_self=attends_self)
    layer.implementation = implementation
    x = draw(1, 7).requires_grad_()
    y = one_pass(layer, x)
    direction = torch.randn_like(y)
    along = y * direction
    along.sum().backward()

    weights = parameters_of(layer)
    values = x.detach().numpy()[0]
    expected = attend(named, weights, values, attends_self)
    check_close(y.detach()[0], expected)

    def total(x=values, **changed):
        moved = attend(named, weights | changed, x, attends_self)
        along = moved * direction[0].numpy()
        return along.sum()

    of_input = gradient(total, values)
    check_close(x.grad[0], of_input)
    for name, parameter in layer.named_parameters():
        if not name.startswith(("score_scale", "normaliser", "query")):
            continue

        def total_of_parameter(moved, name=name):
            return total(**{name: moved})

        exact = gradient(total_of_parameter, weights[name])
        check_close(parameter.grad, exact)


def check_chunks(layer, x: torch.Tensor, sizes: list[int]) -> None:
    """Check that a stream read in blocks of these sizes gives what one block gives."""
    streams = len(x)
    with torch.no_grad():
        whole = one_pass(layer, x)
        past = layer.start(streams)
        parts = []
        for block in x.split(sizes, 1):
            y, past = layer.implementation.attend(layer, block, past)
            parts.append(y)
    joined = torch.cat(parts, 1)
    check_close(joined, whole)


@pytest.mark.parametrize("named", CASES[:6], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_chunks_of_a_stream_give_the_numbers_of_one_pass(named, implementation, training):
    layer = layer_of(named, attends_self=True)
    layer.train(training)
    layer.implementation = implementation
    x = draw(2, 11)
    check_chunks(layer, x, [4, 1, 6])


def test_a_learned_reach_changes_no_count_of_keys(implementation):
    """The span's limit counts, not the reach that heads have learned: caches keep what it shows."""
    layer = layer_of(Named("ssmax", position="nope"), attends_self=True)
    adaptive = {"name": "adaptive", "limit": 8, "ramp": 2}
    span = build_choice("span", adaptive, SHAPE)
    span.fraction.data.fill_(0.1)
    layer.span = span.double()
    layer.implementation = implementation
    x = draw(1, 12)
    for training in (True, False):
        layer.train(training)
        check_chunks(layer, x, [3, 3, 3, 3])


@pytest.mark.parametrize("scale", ["ssmax", "asentmax"])
@pytest.mark.parametrize("reads_itself", [True, False])
def test_padding_is_not_counted(scale, implementation, reads_itself):
    named = Named(scale, "entmax15", position="nope")
    layer = layer_of(named, SequenceAttention, reads_itself=reads_itself)
    layer.implementation = implementation
    x = draw(2, 5).requires_grad_()
    short = torch.ones(2, 5, dtype=torch.bool)
    short[0, 3:] = False
    queries = x if reads_itself else x[:, :3]
    y = layer(queries, layer.project(x), short)
    of_first_three = y[:, :3]
    of_first_three.sum().backward()
    assert x.grad.isfinite().all()

    alone = x[:1, :3].detach()
    none_short = torch.ones(1, 3, dtype=torch.bool)
    of_three = layer(alone, layer.project(alone), none_short)
    check_close(of_first_three[0].detach(), of_three[0].detach())


def adaptive_temperature(z: np.ndarray, coefficients: list[float]) -> float:
    """Compute the scale of one query from the entropy of its weights."""
    p = softmax(z)
    surprisal = -np.log(p)
    H = p @ surprisal
    if H <= 0.5:
        return 1.0
    return max(1.0, np.polyval(coefficients, H))


def softmax(z: np.ndarray) -> np.ndarray:
    unnormalised = np.exp(z)
    return unnormalised / unnormalised.sum()


@pytest.mark.parametrize("order", ["published", "ascending"])
def test_adaptive_temperature_follows_its_polynomial_at_test_time_alone(order, implementation):
    layer = layer_of(Named(position="nope"), attends_self=True)
    temperature = {"name": "adaptive_temperature", "order": order}
    layer.score_scale = build_choice("score_scale", temperature, SHAPE)
    layer.implementation = implementation
    coefficients = COEFFICIENTS
    if order == "ascending":
        coefficients = COEFFICIENTS[::-1]
    T = 30
    x = draw(1, T) / 2
    q, k, v = project_all(parameters_of(layer), x[0].numpy())
    unscaled = np.zeros((T, SHAPE.heads, SHAPE.d_v))
    sharper = np.zeros_like(unscaled)
    for t, head in product(range(T), range(SHAPE.heads)):
        seen = slice(t + 1)
        query = q[t, head]
        keys = k[seen, head]
        values = v[seen, head]
        z = scaled_product(query, keys)
        s = adaptive_temperature(z, coefficients)
        p = softmax(z)
        sharper_p = softmax(s * z)
        unscaled[t, head] = p @ values
        sharper[t, head] = sharper_p @ values
    with torch.no_grad():
        layer.train()
        in_training = one_pass(layer, x)
        layer.eval()
        at_test_time = one_pass(layer, x)
    check_close(in_training[0], unscaled)
    check_close(at_test_time[0], sharper)


def test_a_scale_of_one_over_the_logarithm_is_no_scale():
    x = draw(1, 9)
    unscaled = layer_of(Named(position="nope"), attends_self=True)
    unscaled.implementation = Definition()
    without = one_pass(unscaled, x)
    scaled = layer_of(Named("ssmax", position="nope"), attends_self=True)
    scaled.implementation = Definition()
    scaled.load_state_dict(unscaled.state_dict(), strict=False)
    # 1 at the last query, which sees nine keys
    factor = 1 / np.log(10.0)
    scaled.score_scale.factor.data.fill_(factor)
    y = one_pass(scaled, x)
    *_, before, last = y[0]
    *_, before_unscaled, last_unscaled = without[0]
    assert torch.allclose(last, last_unscaled, atol=1e-12)
    assert not torch.allclose(before, before_unscaled, atol=1e-6)


def test_asentmax_that_starts_at_one_hardly_scales_whatever_the_input():
    x = draw(1, 9)
    starts_at_one = {"name": "asentmax", "init": "one"}
    scale = build_choice("score_scale", starts_at_one, SHAPE)
    s = scale.double().of_queries(x, torch.arange(1, 10))
    difference = (s - 1).abs()
    assert difference.max() < 0.05


def test_a_sink_of_score_0_is_softmax_one_and_one_of_minus_1000_softmax():
    size = (2, SHAPE.heads, 3, 5)
    z = torch.randn(size, dtype=torch.float64)
    sink = build_choice("normaliser", {"name": "learned_sink"}, SHAPE)
    sink = sink.double()
    softmax_one = build_choice("normaliser", {"name": "softmax_one"}, SHAPE)
    assert torch.allclose(sink(z), softmax_one(z))
    sink.score.data.fill_(-1000)
    assert torch.allclose(sink(z), z.softmax(-1))


def test_what_a_key_out_of_the_support_and_a_masked_key_share():
    """A key that entmax leaves out has weight 0 as a masked one has, but it counts for n."""
    scores = [3.0, 0.0, -50.0]
    z = torch.tensor(scores, dtype=torch.float64)
    masked = z.clone()
    masked[-1] = -torch.inf
    entmax = build_choice("normaliser", {"name": "entmax15"}, SHAPE)
    assert torch.allclose(entmax(z), entmax(masked), atol=1e-12)
