"""Compare engine and definition for views of any memory, and for inputs that do not fit.

Run by test_memory.py in a process of its own: code that leaves its memory ends the process.
"""

import re

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as draw

from models.attention.choice import Shape
from models.attention.engine.engine import Engine
from models.attention.formula import Definition
from models.attention.layers import SequenceAttention, build_choice
from models.kernels.compiled import build
from models.kernels.compiled.attention import CROSS, SENTENCE, STREAM, Layout, Pattern, attend
from models.kernels.compiled.dense import Product, add_and_norm, linear, multiply
from models.library import CHOICES, attention, layer

compiler = pytest.mark.skipif(build.obstacle(torch.float64) is not None, reason="no C compiler")


def numbers(*size: int) -> torch.Tensor:
    return torch.randn(*size, dtype=torch.float64).requires_grad_()


# Each makes the memory of a tensor B h N d, and a function that views it so.
def contiguous(B, h, N, d):
    return numbers(B, h, N, d), lambda x: x


def time_first(B, h, N, d):
    return numbers(N, B, h, d), lambda x: x.permute(1, 2, 0, 3)


def transposed(B, h, N, d):
    """The numbers of a row lie far apart."""
    return numbers(B, h, d, N), lambda x: x.mT


def prefix(B, h, N, d):
    return numbers(B, h, N + 5, d), lambda x: x[:, :, :N]


def slices(B, h, N, d):
    return numbers(B + 1, 2 * h, 3 * N, d + 2), lambda x: x[1:, ::2, ::3, 1:-1]


def one_for_all_streams(B, h, N, d):
    return numbers(1, h, N, d), lambda x: x.expand(B, -1, -1, -1)


def one_for_all_heads(B, h, N, d):
    return numbers(B, 1, N, d), lambda x: x.expand(-1, h, -1, -1)


def one_for_all_times(B, h, N, d):
    return numbers(B, h, 1, d), lambda x: x.expand(-1, -1, N, -1)


def overlapping(B, h, N, d):
    """Row n + 1 begins one number after row n."""
    return numbers(B, h, N + d), lambda x: x.unfold(2, d, 1)[:, :, :N]


VIEWS = [contiguous, time_first, transposed, prefix, slices]
VIEWS += [one_for_all_streams, one_for_all_heads, one_for_all_times, overlapping]


# What becomes of the output: a gradient that is expanded, one with strides of its own, one that is
# contiguous.
ENDS = [
    lambda y, w: y.sum(),
    lambda y, w: (y.permute(3, 0, 2, 1) * w.permute(3, 0, 2, 1)).sum(),
    lambda y, w: (y * w).sum(),
]

length = draw.sampled_from([0, 1, 2, 3, 7, 16, 33, 70])
reach = draw.sampled_from([1, 2, 5, 20, 90])
spans = draw.one_of(
    draw.just("full"),
    draw.builds(lambda S: {"name": "fixed", "limit": S}, reach),
    draw.builds(lambda S: {"name": "adaptive", "limit": S, "ramp": min(S, 3)}, reach),
    draw.builds(lambda S: {"name": "sinks", "limit": S, "first": 2}, reach),
)
positions = draw.one_of(
    draw.sampled_from(["none", "alibi", "rotary", "transformer_xl"]),
    draw.builds(lambda S: {"name": "relative", "limit": S}, reach),
)
selections = draw.sampled_from(["all", "all", {"name": "top_k", "k": 3}])
choices = draw.fixed_dictionaries(
    {
        "span": spans,
        "selection": selections,
        "normaliser": draw.sampled_from(sorted(CHOICES["normaliser"])),
        "position": positions,
        "attends_self": draw.booleans(),
    }
)
anything = settings(max_examples=150, phases=[Phase.generate], deadline=None, derandomize=True)


def check(leaves: list, views: list, end, named: dict) -> None:
    """Compare outputs, and gradients of the memory that q, k and v are views of."""
    found = []
    for definition in (True, False):
        torch.manual_seed(1)  # of what a choice draws when it is built
        q, k, v = (view(leaf) for view, leaf in zip(views, leaves, strict=True))
        y = attention(q, k, v, **named, definition=definition)
        weights = torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view(y.shape)
        found.append([y, *torch.autograd.grad(end(y, weights), leaves)])
    for exact, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, exact, rtol=1e-9, atol=1e-9)


@anything
@given(draw.data(), choices, draw.sampled_from(ENDS))
def test_views_of_any_memory(data, named, end):
    B = data.draw(draw.integers(0, 3))
    key_heads = data.draw(draw.integers(1, 3))
    sharing = data.draw(draw.integers(1, 3))
    T = data.draw(length)
    K = data.draw(length)
    dk = data.draw(draw.sampled_from([2, 4, 8, 18]))
    dv = data.draw(draw.sampled_from([0, 1, 3, 8, 17]))
    ways = [data.draw(draw.sampled_from(VIEWS)) for _ in "qkv"]
    if one_for_all_times in ways or overlapping in ways:
        # equal scores tie, and rounding would choose among them
        named = {**named, "selection": "all"}
    torch.manual_seed(data.draw(draw.integers(0, 99)))
    q_way, k_way, v_way = ways
    made = [
        q_way(B, key_heads * sharing, T, dk),
        k_way(B, key_heads, K, dk),
        v_way(B, key_heads, K, dv),
    ]
    check([leaf for leaf, _ in made], [view for _, view in made], end, named)


def test_numbers_whose_sign_torch_has_not_written_yet():
    z = torch.randn(2, 2, 5, 4, dtype=torch.complex128)
    q, positive = z.conj().imag, -z.imag
    assert q.is_neg()
    torch.testing.assert_close(attention(q, q, q), attention(positive, positive, positive))
    weight = torch.randn(3, 4, dtype=torch.float64)
    torch.testing.assert_close(linear(q, weight), positive @ weight.T)


NOT_FITTING = {
    "one stream of keys for two": ((2, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
    "values shorter than keys": ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 4, 4)),
    "fewer heads of values": ((2, 4, 3, 4), (2, 2, 5, 4), (2, 1, 5, 4)),
    "one head of values": ((2, 4, 3, 4), (2, 4, 5, 4), (2, 1, 5, 4)),
    "queries wider than keys": ((2, 2, 3, 6), (2, 2, 5, 4), (2, 2, 5, 4)),
    "heads that do not divide": ((2, 3, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)),
    "more heads of keys": ((2, 2, 3, 4), (2, 4, 5, 4), (2, 4, 5, 4)),
    "no heads": ((2, 0, 3, 4), (2, 0, 5, 4), (2, 0, 5, 4)),
    "no numbers": ((2, 2, 3, 0), (2, 2, 5, 0), (2, 2, 5, 4)),
    "no streams' axis": ((2, 3, 4), (2, 5, 4), (2, 5, 4)),
}


BOTH = pytest.mark.parametrize("definition", [True, False])


@BOTH
@pytest.mark.parametrize("sizes", NOT_FITTING.values(), ids=NOT_FITTING)
def test_what_does_not_fit_is_refused_with_its_sizes(sizes, definition):
    q, k, v = map(torch.ones, sizes)
    told = ".*".join(re.escape(str(size)) for size in sizes)
    with pytest.raises(ValueError, match=told):
        attention(q, k, v, definition=definition)


@BOTH
@pytest.mark.parametrize("training", [True, False])
def test_a_cache_of_one_stream_is_not_repeated_for_two(training, definition):
    span = {"name": "fixed", "limit": 4}
    made = layer(12, 3, span=span, definition=definition).train(training)
    _, past = made(torch.randn(1, 5, 12), made.start(1))
    with pytest.raises(ValueError, match=re.escape("(2, 5, 12)")):
        made(torch.randn(2, 5, 12), past)
    with pytest.raises(ValueError, match=re.escape("(2, 5, 11)")):
        made(torch.randn(2, 5, 11), made.start(2))


def test_a_cache_of_training_is_refused_in_evaluation():
    made = layer(12, 3)
    past = made.start(1)
    with pytest.raises(ValueError, match="cache"):
        made.eval()(torch.randn(1, 5, 12), past)


@pytest.mark.parametrize("implementation", [Engine(), Definition()])
@pytest.mark.parametrize("reads_itself", [True, False])
def test_a_source_of_other_sentences_is_refused(reads_itself, implementation):
    shape = Shape(6, 3, key_heads=1)
    names = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}
    settings = {"full": {"cache": 9}}
    choices = [
        build_choice(axis, {"name": name, **settings.get(name, {})}, shape)
        for axis, name in names.items()
    ]
    made = SequenceAttention(shape, *choices, reads_itself=reads_itself)
    made.implementation = implementation
    x = torch.randn(2, 4, 6)
    # one sentence for two, its mask too, and a mask that is shorter than its sentences
    for rows, mask in (((1, 4, 6), (2, 4)), ((1, 4, 6), (1, 4)), ((2, 4, 6), (2, 3))):
        source = made.project(torch.randn(rows))
        with pytest.raises(ValueError):
            made(x, source, torch.ones(mask, dtype=torch.bool))


H = 2
D = 4
INPUTS = {"q": (1, H, 5, D), "k": (1, H, 9, D), "v": (1, H, 9, D), "alpha": (H,)}
ROW = Layout(D, (0, D), (9 * H * D,) * 2, (H * D,) * 2)
WIDER_ROW = Layout(D + 1, (0, 0), (0, 0), (0, 0))


def pattern(kind, counts=(9, 9), keys=None, **settings) -> Pattern:
    return Pattern(kind, counts, keys, None, 9, **settings)


BEYOND = {
    "alpha of one head": (pattern(STREAM), {"alpha": (1,)}),
    "more rows than keys": (pattern(STREAM, (9, 10)), {}),
    "rows of another length": (pattern(STREAM), {"v": (1, H, 8, D)}),
    "a layout beyond its numbers": (pattern(STREAM, keys=ROW), {"k": (9 * H * D - 1,)}),
    "a layout of another width": (pattern(STREAM, keys=WIDER_ROW), {"k": (99,)}),
    "too few position keys": (pattern(STREAM), {"r": (1, H, 5, D), "p": (D, 8)}),
    "position keys of other heads": (pattern(STREAM), {"r": (1, H, 5, D), "p": (3, D, 9)}),
    "position queries of another width": (pattern(STREAM), {"r": (1, H, 5, 3), "p": (D, 9)}),
    "positions to a source": (pattern(CROSS), {"r": (1, H, 5, D), "p": (D, 9)}),
    "a ramp without spans": (pattern(STREAM, ramp=3, limit=9), {}),
    "spans of fewer queries": (pattern(STREAM, ramp=3, limit=9), {"z": (1, H, 4, 1)}),
    "a sentence without lengths": (pattern(SENTENCE), {}),
    "fewer queries than words": (pattern(SENTENCE), {"lengths": torch.tensor([9])}),
    "more words than there are": (pattern(CROSS), {"lengths": torch.tensor([10])}),
    "lengths of another type": (pattern(CROSS), {"lengths": torch.tensor([9.0])}),
}


@compiler
@pytest.mark.parametrize("pattern, changed", BEYOND.values(), ids=BEYOND)
def test_nothing_reaches_c_beyond_its_memory(pattern, changed):
    inputs = dict.fromkeys(["q", "r", "k", "v", "p", "z", "alpha", "lengths"])
    for name, value in (INPUTS | changed).items():
        inputs[name] = value if torch.is_tensor(value) else torch.ones(value)
    with pytest.raises(ValueError):
        attend(pattern, **inputs)


@pytest.mark.parametrize(
    "settings", [{"reach": -1}, {"kept": -1}, {"ramp": -3}, {"limit": -1}, {"drop": 1.5}], ids=str
)
def test_no_table_has_a_size_below_zero(settings):
    with pytest.raises(ValueError):
        Pattern(STREAM, (3,), None, None, **({"reach": 3} | settings))


@compiler
def test_layers_in_c_refuse_what_they_would_read_beyond():
    a = torch.ones(3, 4)
    b = torch.ones(4, 5)
    c = torch.ones(3, 5)
    for product in (
        Product(a, b, c, bias=torch.ones(4)),
        Product(a, b, c, bias=torch.ones(5).double()),
        Product(a, b, torch.ones(1, 5).expand(3, 5)),
        Product(a.double(), b.double(), c.double()),
    ):
        with pytest.raises(ValueError):
            multiply(Product(a, b, c), product)
    weight = torch.ones(4)
    for added, width in ((torch.ones(4), 4), (None, 3), (a.double(), 4)):
        with pytest.raises(ValueError):
            add_and_norm(a, added, torch.ones(width), weight, 1e-5)
