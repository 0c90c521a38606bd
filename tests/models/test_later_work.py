"""What came after the three papers, compared with computations of its formulas by other means."""

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

CHOSEN = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}
SETTINGS = {
    "full": {"cache": 99},
    "fixed": {"limit": 5},
    "adaptive": {"limit": 9, "ramp": 4},
    "top_k": {"k": 3},
}
TWO = Shape(8, 2)
FRACTIONS = torch.tensor([0.0, 0.3, 0.1, 0.9]).view(4, 1, 1)


def layer(shape=TWO, kind=StreamAttention, **names):
    """Make a layer in 64 bits; names: of choices, by axis."""
    torch.manual_seed(0)
    choices = []
    for axis, name in (CHOSEN | names).items():
        settings = {"name": name, **SETTINGS.get(name, {})}
        choices.append(build_choice(axis, settings, shape))
    reads = "attends_self" if kind is StreamAttention else "reads_itself"
    return kind(shape, *choices, **{reads: True}).double()


def drawn(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).double()


def of_stream(layer, x: Tensor, past: int = 0) -> dict[str, Tensor]:
    """Compute y and all gradients of a block by the engine."""
    rows = drawn(past, len(x), x.size(2))

    def attend(x: Tensor) -> Tensor:
        y, _ = Engine().attend(layer, x, (rows,))
        return layer.out(y.flatten(2))

    return results(attend, layer, drawn(*x.shape), x)


def by_hand(layer, x: Tensor, score) -> dict[str, Tensor]:
    """Compute the same, query by query. score: of (head, q, k, t, j) -> a number."""

    def attend(x: Tensor) -> Tensor:
        q = layer.split(layer.query(x))
        k = layer.split(layer.key(x))
        v = layer.split(layer.value(x))
        B, h, T, _ = q.shape
        outputs = []
        for b, t, i in torch.cartesian_prod(*map(torch.arange, (B, T, h))).tolist():
            row = [score(i, q[b, i, t], k[b, i, j], t, j) for j in range(t + 1)]
            outputs.append(torch.stack(row).softmax(-1) @ v[b, i, : t + 1])
        return layer.out(torch.stack(outputs).view(B, T, -1))

    return results(attend, layer, drawn(*x.shape), x)


def test_a_rotary_position_multiplies_complex_numbers():
    """RoFormer, section 3.2.1: the real part of q e^(i t theta) (k e^(i j theta))*."""

    def score(head, q, k, t, j):
        q = torch.view_as_complex(q.view(-1, 2))
        k = torch.view_as_complex(k.view(-1, 2))
        turns = [cmath.exp(1j * (t - j) * 10000 ** (-2 * i / 4)) for i in range(2)]
        turned = q * k.conj() * torch.tensor(turns, dtype=torch.complex128)
        return turned.sum().real / 2

    made = layer(position="rotary")
    x = drawn(2, 6, 8)
    assert_same(of_stream(made, x), by_hand(made, x, score))


def test_alibi_has_the_slopes_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, .. 1/256, after scaling."""

    def score(head, q, k, t, j):
        return q @ k / math.sqrt(2) - 2.0 ** -(head + 1) * (t - j)

    made = layer(Shape(16, 8), position="alibi")
    x = drawn(2, 5, 16)
    assert_same(of_stream(made, x), by_hand(made, x, score))


def test_softmax_one_is_softmax_with_a_key_that_says_nothing():
    made = CHOICES["normaliser"]["softmax_one"](SMALL)
    z = drawn(3, 7).requires_grad_()
    for offset in (-800, 0, 800):
        p = made(z + offset)
        with_nothing = torch.cat([z + offset, torch.zeros(3, 1).double()], -1)
        expected = with_nothing.softmax(-1)[:, :-1]
        assert_same({"p": p, "dz": gradient(p, z)}, {"p": expected, "dz": gradient(expected, z)})
    assert (made(z - 800) == 0).all()  # a head can say nothing


def gradient(p: Tensor, z: Tensor) -> Tensor:
    (dz,) = torch.autograd.grad((p * drawn(*p.shape)).sum(), z, retain_graph=True)
    return dz


def test_a_sigmoid_weighs_each_key_by_itself():
    z = drawn(3, 7)
    z[0, 4:] = -math.inf
    p = CHOICES["normaliser"]["sigmoid"](SMALL)(z)
    kept = torch.tensor([[4.0], [7.0], [7.0]]).double()
    torch.testing.assert_close(p, 1 / (1 + kept * (-z).exp()))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_top_p_keeps_the_fewest_keys_that_have_the_share(p):
    scores = 3 * drawn(20, 9)
    kept_scores = CHOICES["selection"]["top_p"](SMALL, p=p)(scores)
    for row, kept in zip(scores.tolist(), kept_scores, strict=True):
        total = sum(map(math.exp, row))
        share = 0.0
        expected = []
        for score in sorted(row, reverse=True):
            if share < p:
                expected.append(score)
            share += math.exp(score) / total
        assert sorted(kept[kept.isfinite()].tolist(), reverse=True) == expected


@pytest.mark.parametrize("position", ["none", "relative", "rotary", "alibi", "transformer_xl"])
@pytest.mark.parametrize("attends_self", [True, False])
def test_sinks_attend_within_a_cache_of_the_first_keys_and_the_last(position, attends_self):
    """Token by token, as StreamingLLM does: places are those in a cache without its middle."""
    S = 4
    n = 2
    N = 17
    shape = Shape(6, 3, 4, 4)
    made = layer_of(("sinks", "all", "softmax", position), S, 1, attends_self, 3, shape).eval()
    full = layer_of(("full", "all", "softmax", position), S, 1, attends_self, 3, shape)
    full.load_state_dict(made.state_dict())
    full.span.cache = full.span.evaluation_cache = 99
    if position == "relative":  # the table ends at S: what is farther counts as S
        table = made.position.table
        full.position.keys = lambda window: table[:, -torch.arange(window, 0, -1).clamp(max=S)]
        full.position.limit = None
    x = drawn(2, N, 6)
    past = made.start(2)
    blocks = []
    with torch.no_grad():
        for block in x.split(5, 1):
            y, past = made(block, past)
            blocks.append(y)
        in_blocks = torch.cat(blocks, 1)
        for t in range(N):
            seen = list(range(t + attends_self))
            if len(seen) > n + S:
                seen = seen[:n] + seen[-S:]
            rows = x[:, seen if attends_self else [*seen, t]]
            y, _ = Definition().attend(full, rows, (x.new_empty(0, 2, 6),))
            torch.testing.assert_close(in_blocks[:, t], full.out(y[:, -1].flatten(1)))


@pytest.mark.parametrize("backend", ENGINE_BACKENDS)
@pytest.mark.parametrize("S", [1, 3, 9])
def test_the_first_words_of_a_sentence_are_near_from_both_sides(S, backend):
    """Word j of the first n is at most S + n - j far, from words before it too."""
    n = 4
    N = 8
    given = {
        "span": {"name": "sinks", "limit": S, "first": n},
        "selection": {"name": "all"},
        "normaliser": {"name": "softmax"},
        "position": {"name": "alibi"},
    }
    choices = [build_choice(axis, given[axis], TWO) for axis in CHOICES]
    made = SequenceAttention(TWO, *choices, reads_itself=True).double()
    made.implementation = Engine(backend)
    x = drawn(2, N, 8)
    j = torch.arange(N)
    far = (j[:, None] - j).abs() + 1
    near = torch.where(j < n, far.minimum(S + n - j), far)
    slopes = torch.tensor([2.0**-4, 2.0**-8]).double().view(2, 1, 1)
    q = made.split(made.query(x))
    k = made.split(made.key(x))
    scores = q @ k.mT / 2 - slopes * (near - 1)
    hidden = (far > S) & (j >= n)
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
    expected = made.merge(weights @ made.split(made.value(x)))
    torch.testing.assert_close(made.read(x, torch.ones(2, N, dtype=torch.bool)), expected)


@pytest.mark.parametrize("span", ["full", "adaptive", "fixed"])
@pytest.mark.parametrize("selection", ["all", "top_k"])
@pytest.mark.parametrize("position", ["rotary", "transformer_xl"])
@pytest.mark.parametrize("key_heads", [1, 2])
@pytest.mark.parametrize("kind", [StreamAttention, SequenceAttention])
def test_shared_keys_are_the_same_keys_for_each_head(kind, key_heads, span, selection, position):
    """A layer of four heads whose keys are repeated by hand; the gradients of repeats add up."""
    sharing = 4 // key_heads
    names = {"span": span, "selection": selection, "position": position}
    shared = layer(Shape(8, 4, 2, 2, key_heads), kind, **names)
    own = layer(Shape(8, 4, 2, 2), kind, **names)
    repeated = ("key.weight", "value.weight")
    for name, weight in shared.state_dict().items():
        if name in repeated:
            by_head = weight.view(key_heads, 2, 8)
            weight = by_head.repeat_interleave(sharing, 0).flatten(0, 1)
        own.state_dict()[name].copy_(weight)
    x = drawn(2, 6, 8)
    visible = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    found = []
    for each in (shared, own):
        if span == "adaptive":
            each.span.fraction.data.copy_(FRACTIONS)
        if kind is StreamAttention:
            found.append(of_stream(each, x, past=7))
        else:
            direction = drawn(2, 6, 8)
            found.append(results(lambda x, made=each: made.read(x, visible), each, direction, x))
    ours, theirs = found
    for name in repeated:
        by_head = theirs[name].view(key_heads, sharing, 2, 8)
        theirs[name] = by_head.sum(1).flatten(0, 1)
    assert_same(ours, theirs)


def test_a_stream_with_shared_keys_caches_the_shared_ones_alone():
    made = layer(Shape(8, 4, 2, 2, 2), span="adaptive", position="rotary")
    made.span.fraction.data.copy_(FRACTIONS)
    x = drawn(2, 12, 8)

    def read(sizes: list[int]) -> Tensor:
        past = made.start(2)
        if not made.training:
            assert sum(part.size(2) for part in past[::2]) == 2
        parts = []
        for block in x.split(sizes, 1):
            y, past = made(block, past)
            parts.append(y)
        return torch.cat(parts, 1)

    with torch.no_grad():
        trained = read([12])
        made.eval()
        torch.testing.assert_close(read([12]), trained)
        torch.testing.assert_close(read(12 * [1]), trained)


@pytest.mark.parametrize("key_heads", [3, 0, 8])
def test_heads_that_cannot_share_alike_are_refused(key_heads):
    with pytest.raises(ValueError, match=f"key_heads = {key_heads} "):
        Shape(8, 4, key_heads=key_heads)


def test_a_rotary_position_needs_pairs():
    with pytest.raises(ValueError, match="d_k .* 3"):
        layer(Shape(6, 2), position="rotary")
