"""Inputs that are views of any memory, and inputs that do not fit: engine against definition. Run
by test_memory.py.

In a process of its own: code that leaves its memory ends the process, at once or much later.
"""

from functools import partial

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


def check(leaves: list, viewed, end, named: dict) -> None:
    """Hold the engine to the definition: output and gradients of the memory that q, k and v are
    views of.
    """
    found = []
    for definition in (True, False):
        torch.manual_seed(1)  # of what a choice draws when it is built
        y = attention(*viewed(*leaves), **named, definition=definition)
        weights = torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view(y.shape)
        found.append([y, *torch.autograd.grad(end(y, weights), leaves)])
    for exact, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, exact, rtol=1e-9, atol=1e-9)


@anything
@given(draw.data(), choices, draw.sampled_from(ENDS))
def test_views_of_any_memory(data, named, end):
    B, g, sharing = (data.draw(draw.integers(low, 3)) for low in (0, 1, 1))
    T, K = data.draw(length), data.draw(length)
    dk, dv = (
        data.draw(draw.sampled_from([2, 4, 8, 18])),
        data.draw(draw.sampled_from([0, 1, 3, 8, 17])),
    )
    ways = [data.draw(draw.sampled_from(VIEWS)) for _ in "qkv"]
    if one_for_all_times in ways or overlapping in ways:
        # equal scores tie, and rounding would choose among them
        named = {**named, "selection": "all"}
    torch.manual_seed(data.draw(draw.integers(0, 99)))
    sizes = ((B, g * sharing, T, dk), (B, g, K, dk), (B, g, K, dv))
    leaves, views = zip(*(way(*size) for way, size in zip(ways, sizes, strict=True)), strict=True)
    check(
        list(leaves),
        lambda *memory: [view(x) for view, x in zip(views, memory, strict=True)],
        end,
        named,
    )


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


def refused(*calls) -> str:
    """Return the one line with which all calls are refused."""
    lines = []
    for call in calls:
        with pytest.raises(ValueError) as refusal:
            call()
        lines.append(str(refusal.value))
    assert len(set(lines)) == 1 and "\n" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("sizes", NOT_FITTING.values(), ids=NOT_FITTING)
def test_engine_and_definition_refuse_alike_what_does_not_fit(sizes):
    given = [torch.ones(size) for size in sizes]
    line = refused(
        *(partial(attention, *given, definition=definition) for definition in (True, False))
    )
    assert all(
        f"{name} {size} torch.float32" in line for name, size in zip("qkv", sizes, strict=True)
    )


@pytest.mark.parametrize("training", [True, False])
def test_a_cache_of_one_stream_is_not_repeated_for_two(training):
    calls = []
    for definition in (True, False):
        made = layer(12, 3, span={"name": "fixed", "limit": 4}, definition=definition).train(
            training
        )
        past = made.start(1)
        _, past = made(torch.randn(1, 5, 12), past)
        calls.append(partial(made, torch.randn(2, 5, 11), made.start(2)))
        with pytest.raises(ValueError, match=r"got a block \(2, 5, 12\)"):
            made(torch.randn(2, 5, 12), past)
    if training:  # else the engine caches keys and values, whose shapes its line gives
        refused(*calls)
    trained = layer(12, 3)
    past = trained.start(1)
    with pytest.raises(ValueError, match="a cache .* does not fit new rows"):
        trained.eval()(torch.randn(1, 5, 12), past)


@pytest.mark.parametrize("reads_itself", [True, False])
def test_a_source_of_other_sentences_is_refused(reads_itself):
    shape, calls = Shape(6, 3, key_heads=1), []
    plain = {"span": {"name": "full", "cache": 9}, "selection": {"name": "all"}}
    plain |= {"normaliser": {"name": "softmax"}, "position": {"name": "none"}}
    made = SequenceAttention(
        shape,
        *(build_choice(axis, each, shape) for axis, each in plain.items()),
        reads_itself=reads_itself,
    )
    x, source = torch.randn(2, 4, 6), made.project(torch.randn(1, 4, 6))
    for made.implementation in (Engine(), Definition()):
        calls.append(refused(partial(made, x, source, torch.ones(2, 4, dtype=torch.bool))))
        calls.append(refused(partial(made, x, source, torch.ones(1, 4, dtype=torch.bool))))
        refused(partial(made, x, made.project(x), torch.ones(2, 3, dtype=torch.bool)))
    assert calls[:2] == calls[2:]


H = 2
D = 4
INPUTS = {
    "q": (1, H, 5, D),
    "r": None,
    "k": (1, H, 9, D),
    "v": (1, H, 9, D),
    "p": None,
    "z": None,
    "alpha": (H,),
}
ROW = Layout(D, (0, D), (9 * H * D,) * 2, (H * D,) * 2)
STREAMS, SENTENCES = (
    Pattern(STREAM, (9, 9), None, None, 9),
    Pattern(SENTENCE, (9, 9), None, None, 9),
)
BEYOND = {
    "alpha of one head": (STREAMS, {"alpha": (1,)}),
    "more rows than keys": (Pattern(STREAM, (9, 10), None, None, 9), {}),
    "rows of another length": (STREAMS, {"v": (1, H, 8, D)}),
    "a layout beyond its numbers": (Pattern(STREAM, (9, 9), ROW, None, 9), {"k": (9 * H * D - 1,)}),
    "a layout of another width": (
        Pattern(STREAM, (9, 9), Layout(D + 1, *(2 * (0,),) * 3), None, 9),
        {"k": (99,)},
    ),
    "too few position keys": (STREAMS, {"r": (1, H, 5, D), "p": (D, 8)}),
    "position keys of other heads": (STREAMS, {"r": (1, H, 5, D), "p": (3, D, 9)}),
    "position queries of another width": (STREAMS, {"r": (1, H, 5, 3), "p": (D, 9)}),
    "positions to a source": (
        Pattern(CROSS, (9, 9), None, None, 9),
        {"r": (1, H, 5, D), "p": (D, 9)},
    ),
    "a ramp without spans": (Pattern(STREAM, (9, 9), None, None, 9, ramp=3, limit=9), {}),
    "spans of fewer queries": (
        Pattern(STREAM, (9, 9), None, None, 9, ramp=3, limit=9),
        {"z": (1, H, 4, 1)},
    ),
    "a sentence without lengths": (SENTENCES, {}),
    "fewer queries than words": (SENTENCES, {"lengths": torch.tensor([9])}),
    "more words than there are": (
        Pattern(CROSS, (9, 9), None, None, 9),
        {"lengths": torch.tensor([10])},
    ),
    "lengths of another type": (
        Pattern(CROSS, (9, 9), None, None, 9),
        {"lengths": torch.tensor([9.0])},
    ),
}


@compiler
@pytest.mark.parametrize("pattern, changed", BEYOND.values(), ids=BEYOND)
def test_nothing_reaches_c_beyond_its_memory(pattern, changed):
    sizes = {
        name: size
        for name, size in (INPUTS | changed).items()
        if not isinstance(size, torch.Tensor)
    }
    tensors = {name: size and torch.ones(size) for name, size in sizes.items()}
    with pytest.raises(ValueError):
        attend(pattern, **tensors, lengths=changed.get("lengths"))


@pytest.mark.parametrize(
    "settings", [{"reach": -1}, {"kept": -1}, {"ramp": -3}, {"limit": -1}, {"drop": 1.5}], ids=str
)
def test_no_table_has_a_size_below_zero(settings):
    with pytest.raises(ValueError):
        Pattern(STREAM, (3,), None, None, **({"reach": 3} | settings))


@compiler
def test_layers_in_c_refuse_what_they_would_read_beyond():
    a, b, c = torch.ones(3, 4), torch.ones(4, 5), torch.ones(3, 5)
    for product in (
        Product(a, b, c, bias=torch.ones(4)),
        Product(a, b, c, bias=torch.ones(5).double()),
        Product(a, b, torch.ones(1, 5).expand(3, 5)),
        Product(a.double(), b.double(), c.double()),
    ):
        with pytest.raises(ValueError):
            multiply(Product(a, b, c), product)
    x, weight = torch.ones(3, 4), torch.ones(4)
    for y, shape in ((torch.ones(4), 4), (None, 3), (x.double(), 4)):
        with pytest.raises(ValueError):
            add_and_norm(x, y, torch.ones(shape), weight, 1e-5)
