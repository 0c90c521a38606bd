"""Score scales, and the choices that came with them, against NumPy: written from the formulas.

Gradients are those of a complex step, which is exact to rounding: f(x + ih) = f(x) + ih f'(x).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
import torch

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import (
    SequenceAttention,
    StreamAttention,
    build_choice,
    build_choices,
)

SHAPE = Shape(6, 4, 2, 3)
STEP = 1e-30  # of the complex step
COEFFICIENTS = [-0.037, 0.481, -2.3, 4.917, -1.791]
IMPLEMENTATIONS = {
    "definition": Definition,
    "band": lambda: Engine("band"),
    "auto": lambda: Engine("auto"),
}


@dataclass(frozen=True)
class Named:
    """The choices of a layer by name; k: of top-k, None for all keys. S: the limit, None: full."""

    scale: str = "none"
    normaliser: str = "softmax"
    position: str = "nape"
    k: int | None = None
    S: int | None = None


def layer_of(named: Named, kind=StreamAttention, **settings):
    """Make a layer in 64 bits whose scales and sinks are anywhere."""
    torch.manual_seed(1)
    attention = {
        "span": {"name": "full", "cache": 50},
        "selection": {"name": "all"},
        "normaliser": {"name": named.normaliser},
        "position": {"name": named.position},
        "score_scale": {"name": named.scale},
    }
    if named.S is not None:
        attention["span"] = {"name": "fixed", "limit": named.S}
    if named.k is not None:
        attention["selection"] = {"name": "top_k", "k": named.k}
    choices = build_choices(attention, SHAPE)
    layer = kind(SHAPE, **choices, **settings).double()
    for name, parameter in layer.named_parameters():
        if name.startswith(("score_scale", "normaliser")):
            parameter.data = torch.randn_like(parameter)
    return layer


def parameters_of(layer) -> dict[str, np.ndarray]:
    return {name: each.detach().numpy() for name, each in layer.named_parameters()}


def scales(named: Named, weights: dict, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Compute s for each head and query: h T. x: T d, n: T."""
    growth = np.log(n + 1.0)

    def projected(name: str) -> np.ndarray:
        weight = weights[f"score_scale.{name}_weight"]
        bias = weights[f"score_scale.{name}_bias"]
        return x @ weight.T + bias  # T h

    if named.scale == "none":
        return np.ones((SHAPE.heads, len(x)))
    if named.scale == "ssmax":
        factor = weights["score_scale.factor"]
        s = factor[:, 0] * growth
    else:
        beta = np.log(1 + np.exp(projected("beta")))
        gamma = 2 * np.tanh(projected("gamma"))
        power = np.exp(gamma * np.log(growth)[:, None])
        s = (1 + beta * power).T
    unscaled = SHAPE.heads - len(s)
    ones = np.ones((unscaled, len(x)))
    return np.concatenate([ones, s])


def weigh(named: Named, weights: dict, scores: np.ndarray, head: int) -> np.ndarray:
    """Weigh the visible scores of one query."""
    if named.k is not None:
        count = min(named.k, len(scores))
        least = np.sort(scores.real)[-count]
        kept = scores.real >= least
        over_all = Named(normaliser=named.normaliser)
        p = np.zeros(len(scores), complex)
        p[kept] = weigh(over_all, weights, scores[kept], head)
        return p
    if named.normaliser == "entmax15":
        return entmax15(scores)
    largest = scores.real.max()
    shifted = np.exp(scores - largest)
    total = shifted.sum()
    if named.normaliser == "learned_sink":
        sink = weights["normaliser.score"][head, 0, 0]
        total = total + np.exp(sink - largest)
    return shifted / total


def entmax15(scores: np.ndarray) -> np.ndarray:
    """Solve sum [z/2 - tau]_+^2 = 1 exactly, for the support that holds the k largest scores."""
    z = scores / 2
    order = np.argsort(-z.real)
    for k in range(1, len(z) + 1):
        top = z[order[:k]]
        mean = top.mean()
        rest = 1 / k - ((top - mean) ** 2).mean()
        if rest.real < 0:
            break
        of_k = mean - np.sqrt(rest + 0j)
        if of_k.real <= top[-1].real:
            tau = of_k
    return np.where(z.real > tau.real, (z - tau) ** 2, 0)


def attend(named: Named, weights: dict, x: np.ndarray, attends_self: bool) -> np.ndarray:
    """Compute the layer by the formula, query by query: x: T d -> T h dv."""
    T = len(x)
    q = project(weights, "query", x)
    k = project(weights, "key", x)
    v = project(weights, "value", x)
    seen = [keys_of(t, named.S, attends_self) for t in range(T)]
    n = np.array([max(1, len(keys)) for keys in seen])
    s = scales(named, weights, x, n)
    y = np.zeros((T, SHAPE.heads, SHAPE.d_v), complex)
    for t, head in product(range(T), range(SHAPE.heads)):
        keys = seen[t]
        if not keys:
            continue
        content = k[keys, head] @ q[t, head] / np.sqrt(SHAPE.d_k)
        scores = content * s[head, t]
        if named.position == "nape" and head < 2:
            nearest = t if attends_self else t - 1
            distance = nearest - np.array(keys)
            scores = scores - distance / (head + 1)
        p = weigh(named, weights, scores, head)
        y[t, head] = p @ v[keys, head]
    return y


def project(weights: dict, name: str, x: np.ndarray) -> np.ndarray:
    """Project inputs T d to queries, keys or values: T h c."""
    projected = x @ weights[f"{name}.weight"].T
    return projected.reshape(len(x), SHAPE.heads, -1)


def keys_of(t: int, S: int | None, attends_self: bool) -> list[int]:
    last = t + 1 if attends_self else t
    first = 0 if S is None else max(0, last - S)
    return list(range(first, last))


def gradient(f, values: np.ndarray) -> np.ndarray:
    """Differentiate a function of an array by a complex step for each number."""
    slopes = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        moved = values.astype(complex)
        moved[place] += 1j * STEP
        slopes[place] = f(moved).imag / STEP
    return slopes


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


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("attends_self", [True, False])
@pytest.mark.parametrize("named", CASES, ids=str)
def test_values_and_gradients_are_those_of_the_formula(named, attends_self, implementation):
    layer = layer_of(named, attends_self=attends_self)
    layer.implementation = IMPLEMENTATIONS[implementation]()
    x = draw(1, 7).requires_grad_()
    y, _ = layer.implementation.attend(layer, x, layer.start(1))
    direction = torch.randn_like(y)
    (y * direction).sum().backward()

    weights = parameters_of(layer)
    values = x.detach().numpy()[0]
    expected = attend(named, weights, values, attends_self)
    assert np.allclose(y[0].detach(), expected, atol=1e-9)

    def total(x=values, **changed):
        moved = attend(named, weights | changed, x, attends_self)
        return (moved * direction[0].numpy()).sum()

    assert np.allclose(x.grad[0], gradient(total, values), atol=1e-9)
    for name, parameter in layer.named_parameters():
        if not name.startswith(("score_scale", "normaliser", "query")):
            continue
        exact = gradient(lambda moved, name=name: total(**{name: moved}), weights[name])
        assert np.allclose(parameter.grad, exact, atol=1e-9), name


def draw(streams: int, length: int) -> torch.Tensor:
    return torch.randn(streams, length, SHAPE.d_model, dtype=torch.float64)


def check_chunks(layer, x: torch.Tensor, sizes: list[int]) -> None:
    """Check that a stream read in blocks of these sizes gives what one block gives."""
    streams = len(x)
    with torch.no_grad():
        whole, _ = layer.implementation.attend(layer, x, layer.start(streams))
        past = layer.start(streams)
        parts = []
        for block in x.split(sizes, 1):
            y, past = layer.implementation.attend(layer, block, past)
            parts.append(y)
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-9)


@pytest.mark.parametrize("named", CASES[:6], ids=str)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("training", [True, False])
def test_chunks_of_a_stream_give_the_numbers_of_one_pass(named, implementation, training):
    layer = layer_of(named, attends_self=True).train(training)
    layer.implementation = IMPLEMENTATIONS[implementation]()
    check_chunks(layer, draw(2, 11), [4, 1, 6])


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_learned_reach_changes_no_count_of_keys(implementation):
    """The span's limit counts, not the reach that heads have learned: caches keep what it shows."""
    layer = layer_of(Named("ssmax", position="nope"), attends_self=True)
    span = build_choice("span", {"name": "adaptive", "limit": 8, "ramp": 2}, SHAPE)
    span.fraction.data.fill_(0.1)
    layer.span = span.double()
    layer.implementation = IMPLEMENTATIONS[implementation]()
    x = draw(1, 12)
    for training in (True, False):
        layer.train(training)
        check_chunks(layer, x, [3, 3, 3, 3])


@pytest.mark.parametrize("scale", ["ssmax", "asentmax"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("reads_itself", [True, False])
def test_padding_is_not_counted(scale, implementation, reads_itself):
    named = Named(scale, "entmax15", position="nope")
    layer = layer_of(named, SequenceAttention, reads_itself=reads_itself)
    layer.implementation = IMPLEMENTATIONS[implementation]()
    x = draw(2, 5).requires_grad_()
    short = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)
    queries = x[:, :3] if not reads_itself else x
    y = layer(queries, layer.project(x), short)
    y[:, :3].sum().backward()
    assert x.grad.isfinite().all()

    alone = x[:1, :3].detach()
    of_three = layer(alone, layer.project(alone), torch.ones(1, 3, dtype=torch.bool))
    assert torch.allclose(y[0, :3], of_three[0], atol=1e-9)


@pytest.mark.parametrize("order", ["published", "ascending"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_adaptive_temperature_follows_its_polynomial_at_test_time_alone(order, implementation):
    layer = layer_of(Named(position="nope"), attends_self=True)
    scale = build_choice("score_scale", {"name": "adaptive_temperature", "order": order}, SHAPE)
    layer.score_scale = scale
    layer.implementation = IMPLEMENTATIONS[implementation]()
    T = 30
    x = draw(1, T) / 2
    weights = parameters_of(layer)
    q = project(weights, "query", x[0].numpy())
    k = project(weights, "key", x[0].numpy())
    v = project(weights, "value", x[0].numpy())
    coefficients = COEFFICIENTS if order == "published" else COEFFICIENTS[::-1]
    plain = np.zeros((T, SHAPE.heads, SHAPE.d_v))
    sharper = np.zeros_like(plain)
    for t, head in product(range(T), range(SHAPE.heads)):
        seen = slice(t + 1)
        z = k[seen, head] @ q[t, head] / np.sqrt(SHAPE.d_k)
        p = softmax(z)
        H = -(p * np.log(p)).sum()
        s = 1.0
        if H > 0.5:
            s = max(1.0, np.polyval(coefficients, H))
        plain[t, head] = p @ v[seen, head]
        sharper[t, head] = softmax(s * z) @ v[seen, head]
    for training, expected in ((True, plain), (False, sharper)):
        layer.train(training)
        with torch.no_grad():
            y, _ = layer.implementation.attend(layer, x, layer.start(1))
        assert np.allclose(y[0], expected, atol=1e-9)


def softmax(z: np.ndarray) -> np.ndarray:
    return np.exp(z) / np.exp(z).sum()


def test_a_scale_of_one_over_the_logarithm_is_no_scale():
    x = draw(1, 9)
    plain = layer_of(Named(position="nope"), attends_self=True)
    without, _ = Definition().attend(plain, x, plain.start(1))
    # 1 at the last query, which sees nine keys
    scaled = layer_of(Named("ssmax", position="nope"), attends_self=True)
    scaled.load_state_dict(plain.state_dict(), strict=False)
    scaled.score_scale.factor.data.fill_(1 / np.log(10.0))
    y, _ = Definition().attend(scaled, x, scaled.start(1))
    assert torch.allclose(y[0, -1], without[0, -1], atol=1e-12)
    assert not torch.allclose(y[0, -2], without[0, -2], atol=1e-6)


def test_asentmax_that_starts_at_one_hardly_scales_whatever_the_input():
    x = draw(1, 9)
    one = build_choice("score_scale", {"name": "asentmax", "init": "one"}, SHAPE).double()
    s = one.of_queries(x, torch.arange(1, 10))
    assert ((s - 1).abs() < 0.05).all()


def test_a_sink_of_score_0_is_softmax_one_and_one_of_minus_1000_softmax():
    z = torch.randn(2, SHAPE.heads, 3, 5, dtype=torch.float64)
    sink = build_choice("normaliser", {"name": "learned_sink"}, SHAPE).double()
    softmax_one = build_choice("normaliser", {"name": "softmax_one"}, SHAPE)
    assert torch.allclose(sink(z), softmax_one(z))
    sink.score.data.fill_(-1000)
    assert torch.allclose(sink(z), z.softmax(-1))


def test_what_a_key_out_of_the_support_and_a_masked_key_share():
    """A key that entmax leaves out has weight 0 as a masked one has, but it counts for n."""
    z = torch.tensor([3.0, 0.0, -50.0], dtype=torch.float64)
    entmax = build_choice("normaliser", {"name": "entmax15"}, SHAPE)
    masked = torch.tensor([3.0, 0.0, -torch.inf], dtype=torch.float64)
    assert torch.allclose(entmax(z), entmax(masked), atol=1e-12)
