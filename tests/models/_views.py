"""Compare engine and definition for views of any memory, and for inputs that do not fit.

Run by test_memory.py in a process of its own: code that leaves its memory ends the process.
"""

import re

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as draw
from torch.testing import assert_close

from models.attention.formula import Definition
from models.kernels.compiled import build
from models.kernels.compiled.attention import CROSS, SENTENCE, STREAM, Layout, Pattern, attend
from models.kernels.compiled.dense import Product, add_and_norm, linear, multiply
from models.library import CHOICES, attention, layer
from tests._equivalence import SMALL, sequence_layer

compiler = pytest.mark.skipif(build.obstacle(torch.float64) is not None, reason="no C compiler")
both = pytest.mark.parametrize("definition", [True, False])


def numbers(*size: int) -> torch.Tensor:
    return torch.randn(size, dtype=torch.float64).requires_grad_()


def viewed(kind: str, B: int, h: int, N: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw the memory of a tensor B h N d; return it, and the tensor as a view of it."""
    match kind:
        case "contiguous":
            memory = numbers(B, h, N, d)
            view = memory
        case "time first":
            memory = numbers(N, B, h, d)
            view = memory.permute(1, 2, 0, 3)
        case "columns":
            memory = numbers(B, h, d, N)
            view = memory.mT
        case "slices":
            memory = numbers(B + 1, 2 * h, 3 * N, d + 2)
            view = memory[1:, ::2, ::3, 1:-1]
        case "one for all streams":
            memory = numbers(1, h, N, d)
            view = memory.expand(B, -1, -1, -1)
        case "one for all heads":
            memory = numbers(B, 1, N, d)
            view = memory.expand(-1, h, -1, -1)
        case "one for all times":
            memory = numbers(B, h, 1, d)
            view = memory.expand(-1, -1, N, -1)
        case "overlapping":
            # row n + 1 begins one number after row n
            memory = numbers(B, h, N + d)
            view = memory.unfold(2, d, 1)[:, :, :N]
    return memory, view


KINDS = ["contiguous", "time first", "columns", "slices", "one for all streams"]
KINDS += ["one for all heads", "one for all times", "overlapping"]
ORDERS = [(0, 1, 2, 3), (3, 0, 2, 1)]  # that the output's gradient has in memory
length = draw.sampled_from([0, 1, 2, 3, 7, 16, 33, 70])
reach = draw.sampled_from([1, 2, 5, 20, 90])


def limited(name: str, more: int = 0, **settings):
    """Draw a choice whose limit is `more` than a drawn reach."""

    def choice(S: int) -> dict:
        return {"name": name, "limit": S + more, **settings}

    return draw.builds(choice, reach)


SPANS = draw.one_of(
    draw.just("full"),
    limited("fixed"),
    limited("adaptive", more=2, ramp=3),
    limited("sinks", first=2),
)
TOP_3 = {"name": "top_k", "k": 3}
POSITIONS = draw.one_of(
    draw.sampled_from(["none", "alibi", "rotary", "transformer_xl"]),
    limited("relative"),
)
choices = draw.fixed_dictionaries(
    {
        "span": SPANS,
        # top-k once for two that attend to all keys
        "selection": draw.sampled_from(["all", "all", TOP_3]),
        "normaliser": draw.sampled_from(sorted(CHOICES["normaliser"])),
        "position": POSITIONS,
        "attends_self": draw.booleans(),
    }
)


@settings(
    max_examples=150,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
)
@given(
    kinds=draw.tuples(*[draw.sampled_from(KINDS)] * 3),
    named=choices,
    order=draw.sampled_from(ORDERS),
    B=draw.integers(0, 3),
    key_heads=draw.integers(1, 3),
    sharing=draw.integers(1, 3),
    T=length,
    K=length,
    dk=draw.sampled_from([2, 4, 8, 18]),
    dv=draw.sampled_from([0, 1, 3, 8, 17]),
    seed=draw.integers(0, 99),
)
def test_views_of_any_memory(kinds, named, order, B, key_heads, sharing, T, K, dk, dv, seed):
    """Outputs, and gradients of the memory that q, k and v are views of."""
    repeats = {"one for all times", "overlapping"} & set(kinds)
    if repeats:
        # equal scores tie, and rounding would choose among them
        named = {**named, "selection": "all"}
    torch.manual_seed(seed)
    q_memory, q = viewed(kinds[0], B, key_heads * sharing, T, dk)
    k_memory, k = viewed(kinds[1], B, key_heads, K, dk)
    v_memory, v = viewed(kinds[2], B, key_heads, K, dv)
    leaves = [q_memory, k_memory, v_memory]
    found = []
    for definition in (True, False):
        torch.manual_seed(1)  # of what a choice draws when it is built
        y = attention(q, k, v, **named, definition=definition)
        ordered = y.permute(order)
        weights = torch.linspace(-1, 2, y.numel(), dtype=y.dtype)
        weights = weights.view(ordered.shape)
        total = (ordered * weights).sum()
        gradients = torch.autograd.grad(
            total,
            leaves,
            retain_graph=True,
        )
        found.append([y, *gradients])
    assert_close(*found)


def test_an_expanded_gradient_and_numbers_whose_sign_torch_has_not_written_yet():
    z = torch.randn(2, 2, 5, 4, dtype=torch.complex128)
    positive = -z.imag
    positive.requires_grad_()
    q = z.conj().imag
    q.requires_grad_()
    assert q.is_neg()
    y = attention(q, q, q)
    y.sum().backward()
    expected = attention(positive, positive, positive, definition=True)
    expected.sum().backward()
    assert_close(q.grad, positive.grad)
    weight = torch.randn(3, 4, dtype=torch.float64)
    assert_close(linear(q, weight), positive @ weight.T)


@both
@pytest.mark.parametrize(
    "q, k, values",
    [
        ((2, 2, 3, 4), (1, 2, 5, 4), 5),  # one stream of keys for two
        ((2, 2, 3, 4), (2, 2, 5, 4), 4),  # values shorter than keys
        ((2, 2, 3, 6), (2, 2, 5, 4), 5),  # queries wider than keys
        ((2, 3, 3, 4), (2, 2, 5, 4), 5),  # heads that do not divide
        ((2, 2, 3, 4), (2, 4, 5, 4), 5),  # more heads of keys
        ((2, 0, 3, 4), (2, 0, 5, 4), 5),  # no heads
        ((2, 3, 4), (2, 5, 4), 5),  # no axis of streams
    ],
)
def test_what_does_not_fit_is_refused_with_its_sizes(q, k, values, definition):
    v = list(k)
    v[-2] = values
    sizes = re.escape(str(q))
    with pytest.raises(ValueError, match=sizes):
        attention(
            torch.ones(q),
            torch.ones(k),
            torch.ones(v),
            definition=definition,
        )


@both
@pytest.mark.parametrize("training", [True, False])
def test_a_cache_of_other_streams_or_of_training_is_refused(training, definition):
    span = {"name": "fixed", "limit": 4}
    made = layer(12, 3, span=span, definition=definition)
    made.train(training)
    x = torch.randn(2, 5, 12)
    narrow = x[..., 1:]
    two_streams = made.start(2)
    with pytest.raises(ValueError, match=re.escape("(2, 5, 12)")):
        made(x, made.start(1))
    with pytest.raises(ValueError, match=re.escape("(2, 5, 11)")):
        made(narrow, two_streams)
    made = layer(12, 3)
    of_training = made.start(2)
    made.eval()
    with pytest.raises(ValueError, match="cache"):
        made(x, of_training)


@both
@pytest.mark.parametrize("reads_itself", [True, False])
@pytest.mark.parametrize(
    "rows, mask",
    [
        ((1, 4, 6), (2, 4)),  # one sentence for two
        ((1, 4, 6), (1, 4)),  # its mask too
        ((2, 4, 6), (2, 3)),  # a mask that is shorter than its sentences
    ],
)
def test_a_source_of_other_sentences_is_refused(rows, mask, reads_itself, definition):
    ordinary = ("full", "all", "softmax", "none")
    made = sequence_layer(ordinary, 9, 9, 1, SMALL, reads_itself, 0)
    if definition:
        made.implementation = Definition()
    x = torch.randn(2, 4, 6).double()
    sentences = torch.randn(rows).double()
    source = made.project(sentences)
    visible = torch.ones(mask, dtype=torch.bool)
    with pytest.raises(ValueError):
        made(x, source, visible)


H = 2
D = 4
FITTING = {
    "q": (1, H, 5, D),
    "k": (1, H, 9, D),
    "v": (1, H, 9, D),
    "alpha": (H,),
}
RELATIVE = {"r": (1, H, 5, D), "p": (D, 9)}
NUMBERS = 9 * H * D
ROW = Layout(D, (0, D), (NUMBERS,) * 2, (H * D,) * 2)


def pattern(kind=STREAM, counts=(9, 9), keys=None, **settings) -> Pattern:
    return Pattern(kind, counts, keys, None, 9, **settings)


BEYOND = {
    "alpha of one head": (pattern(), {"alpha": (1,)}),
    "more rows than keys": (pattern(counts=(9, 10)), {}),
    "rows of another length": (pattern(), {"v": (1, H, 8, D)}),
    "a layout beyond its numbers": (pattern(keys=ROW), {"k": (NUMBERS - 1,)}),
    "too few position keys": (pattern(), RELATIVE | {"p": (D, 8)}),
    "position keys of other heads": (pattern(), RELATIVE | {"p": (3, D, 9)}),
    "position queries of another width": (pattern(), RELATIVE | {"r": (1, H, 5, 3)}),
    "a ramp without spans": (pattern(ramp=3, limit=9), {}),
    "spans of fewer queries": (pattern(ramp=3, limit=9), {"z": (1, H, 4, 1)}),
    "a sentence without lengths": (pattern(SENTENCE), {}),
    "more words than there are": (pattern(CROSS), {"lengths": torch.tensor([10])}),
    "lengths of another type": (pattern(CROSS), {"lengths": torch.tensor([9.0])}),
}


@compiler
@pytest.mark.parametrize("pattern, changed", BEYOND.values(), ids=BEYOND)
def test_nothing_reaches_c_beyond_its_memory(pattern, changed):
    inputs = dict.fromkeys(["q", "r", "k", "v", "p", "z", "alpha", "lengths"])
    given = FITTING | changed
    for name, value in given.items():
        if not torch.is_tensor(value):
            value = torch.ones(value)
        inputs[name] = value
    with pytest.raises(ValueError):
        attend(pattern, **inputs)


@pytest.mark.parametrize(
    "name, value",
    [
        ("reach", -1),
        ("kept", -1),
        ("ramp", -3),
        ("limit", -1),
        ("drop", 1.5),
    ],
)
def test_no_table_has_a_size_below_zero(name, value):
    settings = {"reach": 3}
    settings[name] = value
    with pytest.raises(ValueError):
        Pattern(STREAM, (3,), None, None, **settings)


@compiler
def test_layers_in_c_refuse_what_they_would_read_beyond():
    a = torch.ones(3, 4)
    b = torch.ones(4, 5)
    c = torch.ones(3, 5)
    narrow = torch.ones(4)
    double = torch.ones(5, dtype=torch.float64)
    expanded = torch.ones(1, 5).expand(3, 5)
    products = [
        Product(a, b, c, bias=narrow),
        Product(a, b, c, bias=double),
        Product(a, b, expanded),
    ]
    for product in products:
        with pytest.raises(ValueError):
            multiply(product)
    scale = torch.ones(4)
    shift = torch.ones(4)
    unfit = [
        (torch.ones(4), scale),
        (None, torch.ones(3)),
        (a.double(), scale),
    ]
    for added, weight in unfit:
        with pytest.raises(ValueError):
            add_and_norm(a, added, weight, shift, 1e-5)
