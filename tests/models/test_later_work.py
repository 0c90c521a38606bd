"""What came after the three papers, beside computations of its formulas by other means: values and
gradients.
"""

import cmath
import math

import pytest
import torch
from torch import Tensor

from models.attention.choice import Shape
from models.attention.engine.backend import ENGINE_BACKENDS
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import CHOICES, SequenceAttention, StreamAttention, build_choice
from tests._equivalence import SMALL, layer_of, results
from tests._nets import assert_same

PLAIN = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}
SETTINGS = {
    "full": {"cache": 99},
    "fixed": {"limit": 5},
    "sinks": {"limit": 5, "first": 2},
    "top_p": {"p": 0.6},
}
TWO = Shape(8, 2)
SETTINGS |= {"adaptive": {"limit": 9, "ramp": 4}, "top_k": {"k": 3}}


def layer(shape=TWO, kind=StreamAttention, **names):
    torch.manual_seed(0)
    named = (PLAIN | names).items()
    choices = [
        build_choice(axis, {"name": name, **SETTINGS.get(name, {})}, shape) for axis, name in named
    ]
    reads = {"attends_self": True} if kind is StreamAttention else {"reads_itself": True}
    return kind(shape, *choices, **reads).double()


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).double()


def of_stream(layer, x: Tensor, past: int = 0) -> dict[str, Tensor]:
    """Compute y and all gradients of a block by the engine."""
    rows, direction = drawn(past, len(x), x.size(2)), drawn(*x.shape)
    return results(
        lambda x: layer.out(Engine().attend(layer, x, (rows,))[0].flatten(2)), layer, direction, x
    )


def by_hand(layer, x: Tensor, score) -> dict[str, Tensor]:
    """Compute the same, query by query. score: of (head, q, k, t, j) -> a number."""

    def attend(x: Tensor) -> Tensor:
        q, k, v = (layer.split(each(x)) for each in (layer.query, layer.key, layer.value))
        B, h, T, _ = q.shape
        y = x.new_zeros(B, T, h, v.size(-1))
        for b, i, t in torch.cartesian_prod(*map(torch.arange, (B, h, T))).tolist():
            row = torch.stack([score(i, q[b, i, t], k[b, i, j], t, j) for j in range(t + 1)])
            y = y.index_put(
                (torch.tensor(b), torch.tensor(t), torch.tensor(i)),
                row.softmax(-1) @ v[b, i, : t + 1],
            )
        return layer.out(y.flatten(2))

    return results(attend, layer, drawn(*x.shape), x)


def test_a_rotary_position_multiplies_complex_numbers():
    """RoFormer, section 3.2.1: the score is the real part of q e^(i t theta) times the conjugate of
    k e^(i j theta).
    """

    def score(head, q, k, t, j):
        q, k = (torch.view_as_complex(each.view(-1, 2)) for each in (q, k))
        turns = [cmath.exp(1j * (t - j) * 10000 ** (-2 * i / 4)) for i in range(2)]
        return (q * k.conj() * torch.tensor(turns, dtype=torch.complex128)).sum().real / 2

    x = drawn(2, 6, 8)
    assert_same(of_stream(layer(position="rotary"), x), by_hand(layer(position="rotary"), x, score))


def test_alibi_has_the_slopes_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, .. 1/256, times the distance, after
    scaling.
    """
    slopes = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
    made, other = (layer(Shape(16, 8), position="alibi") for _ in range(2))
    x = drawn(2, 5, 16)
    by_slopes = by_hand(
        other, x, lambda head, q, k, t, j: q @ k / math.sqrt(2) - slopes[head] * (t - j)
    )
    assert_same(of_stream(made, x), by_slopes)


def test_softmax_one_is_softmax_beside_a_key_that_says_nothing():
    made = CHOICES["normaliser"]["softmax_one"](SMALL)
    z = drawn(3, 7).requires_grad_()
    for offset in (-800, 0, 800):
        p = made(z + offset)
        expected = torch.cat([z + offset, torch.zeros(3, 1).double()], -1).softmax(-1)[:, :-1]
        assert_same({"p": p, "dz": gradient(p, z)}, {"p": expected, "dz": gradient(expected, z)})
    assert (made(z - 800) == 0).all()  # a head can say nothing


def test_a_sigmoid_weighs_each_key_by_itself():
    made = CHOICES["normaliser"]["sigmoid"](SMALL)
    z = drawn(3, 7)
    z[0, 4:] = -math.inf
    p = made(z)
    for row, kept in ((0, 4), (1, 7), (2, 7)):
        for i in range(kept):
            assert p[row, i].item() == pytest.approx(
                1 / (1 + kept * math.exp(-z[row, i].item())), rel=1e-12
            )
    assert (p[0, 4:] == 0).all()


def gradient(p: Tensor, z: Tensor) -> Tensor:
    return torch.autograd.grad((p * drawn(*p.shape)).sum(), z, retain_graph=True)[0]


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_top_p_keeps_the_fewest_keys_that_have_the_share(p):
    made, scores = CHOICES["selection"]["top_p"](SMALL, p=p), 3 * drawn(20, 9)
    for row, kept in zip(scores.tolist(), made(scores), strict=True):
        total, share, expected = sum(map(math.exp, row)), 0.0, []
        for score in sorted(row, reverse=True):
            if share < p:
                expected.append(score)
            share += math.exp(score) / total
        assert sorted(kept[kept.isfinite()].tolist(), reverse=True) == expected


@pytest.mark.parametrize("position", ["none", "relative", "rotary", "alibi", "transformer_xl"])
@pytest.mark.parametrize("attends_self", [True, False])
def test_sinks_attend_within_a_cache_of_the_first_keys_and_the_last(position, attends_self):
    """Token by token, as StreamingLLM does: places are those in the cache, whose middle has been
    thrown away.
    """
    S, n, N = 4, 2, 17
    made = layer_of(
        ("sinks", "all", "softmax", position), S, 1, attends_self, 3, Shape(6, 3, 4, 4)
    ).eval()
    plain = layer_of(("full", "all", "softmax", position), S, 1, attends_self, 3, Shape(6, 3, 4, 4))
    plain.load_state_dict(made.state_dict())
    if position == "relative":  # the table ends at S: what is farther counts as S
        plain.position.keys = lambda window: made.position.table[
            :, torch.arange(window, 0, -1).clamp(max=S) * -1
        ]
        plain.position.limit = None
    plain.span.cache = plain.span.evaluation_cache = 99
    x, past, in_blocks = drawn(2, N, 6), made.start(2), []
    with torch.no_grad():
        for block in x.split(5, 1):
            y, past = made(block, past)
            in_blocks.append(y)
        for t in range(N):
            before = list(range(t)) if not attends_self else list(range(t + 1))
            cached = before if len(before) <= n + S else before[:n] + before[-S:]
            rows = x[:, [*cached, t] if not attends_self else cached]
            expected = Definition().attend(plain, rows, (x.new_empty(0, 2, 6),))[0][:, -1]
            torch.testing.assert_close(
                torch.cat(in_blocks, 1)[:, t], plain.out(expected.flatten(1))
            )


@pytest.mark.parametrize("backend", ENGINE_BACKENDS)
@pytest.mark.parametrize("S", [1, 2, 3, 9])
@pytest.mark.parametrize("position", ["rotary", "alibi", "none"])
def test_the_first_words_of_a_sentence_are_near_from_both_sides(position, S, backend):
    """Word j of the first n is at most S + n - j far, from words before it too; a rotary position
    turns by so many.
    """
    n, N, shape = 4, 8, Shape(8, 2)
    given = {"span": {"name": "sinks", "limit": S, "first": n}, "selection": {"name": "all"}}
    given |= {"normaliser": {"name": "softmax"}, "position": {"name": position}}
    choices = [build_choice(axis, given[axis], shape) for axis in CHOICES]
    made, x = SequenceAttention(shape, *choices, reads_itself=True).double(), drawn(2, N, 8)
    made.implementation, expected = Engine(backend), x.new_zeros(2, 2, N, 4)
    q, k, v = (made.split(each(x)) for each in (made.query, made.key, made.value))
    for b, h, t in torch.cartesian_prod(*map(torch.arange, (2, 2, N))).tolist():
        scores = []
        for j in range(N):
            far = abs(t - j) + 1
            near = min(far, S + n - j) if j < n else far
            turned = cmath.exp(1j * math.copysign(near - 1, t - j)) if position == "rotary" else 1
            slow = cmath.exp(0.01j * math.copysign(near - 1, t - j)) if position == "rotary" else 1
            pairs = [
                torch.view_as_complex(each[b, h, i].view(-1, 2)) for each, i in ((q, t), (k, j))
            ]
            score = (pairs[0] * pairs[1].conj() * torch.tensor([turned, slow])).sum().real / 2
            bias = (2.0**-4, 2.0**-8)[h] * (near - 1) if position == "alibi" else 0
            scores.append(score - bias if far <= S or j < n else torch.tensor(-math.inf).double())
        expected[b, h, t] = torch.stack(scores).softmax(-1) @ v[b, h]
    torch.testing.assert_close(
        made.read(x, torch.ones(2, N, dtype=torch.bool)), made.merge(expected)
    )


@pytest.mark.parametrize("span", ["full", "adaptive", "fixed"])
@pytest.mark.parametrize("selection", ["all", "top_k"])
@pytest.mark.parametrize("position", ["rotary", "transformer_xl"])
@pytest.mark.parametrize("key_heads", [1, 2])
@pytest.mark.parametrize("kind", [StreamAttention, SequenceAttention])
def test_shared_keys_are_the_same_keys_for_each_head(kind, key_heads, span, selection, position):
    """A layer of four heads whose keys are repeated by hand gives the outputs; the gradients of
    repeats add up.
    """
    choices = {"span": span, "selection": selection, "position": position}
    shared, own = (
        layer(Shape(8, 4, 2, 2, key_heads), kind, **choices),
        layer(Shape(8, 4, 2, 2), kind, **choices),
    )
    repeated = {"key.weight", "value.weight"}
    for name, weight in shared.state_dict().items():
        if name in repeated:
            weight = weight.view(key_heads, 2, 8).repeat_interleave(4 // key_heads, 0).flatten(0, 1)
        own.state_dict()[name].copy_(weight)
    for each in (shared, own):
        if span == "adaptive":
            each.span.fraction.data.copy_(torch.tensor([0.0, 0.3, 0.1, 0.9]).view(4, 1, 1))
    x, found, visible = drawn(2, 6, 8), [], torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    for each in (shared, own):
        if kind is StreamAttention:
            found.append(of_stream(each, x, past=7))
        else:
            found.append(
                results(lambda x, each=each: each.read(x, visible), each, drawn(2, 6, 8), x)
            )
    for name in repeated:
        found[1][name] = found[1][name].view(key_heads, 4 // key_heads, 2, 8).sum(1).flatten(0, 1)
    assert_same(*found)


def test_a_stream_with_shared_keys_caches_the_shared_ones_alone():
    made, x = layer(Shape(8, 4, 2, 2, 2), span="adaptive", position="rotary"), drawn(2, 12, 8)
    made.span.fraction.data.copy_(torch.tensor([0.0, 0.3, 0.1, 0.9]).view(4, 1, 1))
    outputs = []
    for evaluated, blocks in ((False, [12]), (True, [12]), (True, [1] * 12)):
        made.train(not evaluated)
        past, parts = made.start(2), []
        if evaluated:
            assert sum(part.size(2) for part in past[::2]) == 2
        with torch.no_grad():
            for block in x.split(blocks, 1):
                y, past = made(block, past)
                parts.append(y)
        outputs.append(torch.cat(parts, 1))
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(outputs[0], outputs[2])


@pytest.mark.parametrize("key_heads", [3, 0, 8])
def test_heads_that_cannot_share_alike_are_refused(key_heads):
    with pytest.raises(ValueError, match=f"key_heads = {key_heads} must divide heads h = 4"):
        Shape(8, 4, key_heads=key_heads)


def test_a_rotary_position_needs_pairs():
    with pytest.raises(ValueError, match="d_k must be even, got 3"):
        layer(Shape(6, 2), position="rotary")
