"""What a GPU computes in training: the definition over the keys that the farthest head reaches."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.profiler import profile
from torch.testing import assert_close

from models.attention import formula
from models.attention.engine import backend, window
from models.attention.engine.backend import kernel_obstacle_of
from models.attention.engine.chunks import attend_in_chunks
from models.attention.engine.engine import Engine
from models.attention.engine.window import READ_EVERY, SPARE, TooNarrow, Window
from models.attention.formula import Definition, attend_block
from models.attention.layers import CHOICES
from models.kernels.compiled import build
from models.library import layer
from tests._elsewhere import Elsewhere, Numbers, stand_in

GIB = 1 << 30
LIMIT = 4096
H100 = 80 * GIB
each_choice = pytest.mark.parametrize(
    "axis, name", [(axis, name) for axis, choices in CHOICES.items() for name in choices]
)


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch):
    stand_in(monkeypatch, memory=H100)


def made(axis: str, name: str, **sizes):
    choice = {"name": name, **CHOICES[axis][name].example}
    return layer(**{"d_model": 16, "heads": 4, axis: choice} | sizes).train()


# --- what is taken ---------------------------------------------------------------------------

SIZES = {
    "small": {"B": 32, "T": 128, "h": 4, "S": 512, "layers": 6},
    "large": {"B": 32, "T": 128, "h": 6, "S": 512, "layers": 10},
    "paper": {"B": 64, "T": 512, "h": 8, "S": 1024, "layers": 12},
    "paper, S = 8192": {"B": 64, "T": 512, "h": 8, "S": 8192, "layers": 12},
}
FIT = ("small", "large")


@each_choice
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_auto_takes(axis, name, size, device):
    sizes = SIZES[size]
    x = torch.empty(sizes["B"], sizes["T"], 48, device=device)
    computed_by = made(axis, name, d_model=48, heads=sizes["h"])
    keys = sizes["S"] + sizes["T"]
    engine = Engine("auto", sizes["layers"])
    with build.without():
        route = engine.route(computed_by, x, is_stream=True, keys=keys)
        evaluated = engine.route(computed_by.eval(), x, is_stream=True, keys=keys)
    if device == "cpu":
        assert route.code == "groups"
    elif size in FIT:
        assert route.code == "definition"
    else:
        assert route.code == ("chunks" if kernel_obstacle_of(computed_by) else "groups")
        assert "GiB" in route.reason
    assert evaluated.code == "groups"


def test_a_run_that_is_given_a_backend_gets_it():
    x = torch.empty(2, 3, 16, device="meta")
    route = Engine("band").route(made("span", "full"), x, is_stream=True, keys=8)
    assert route.code == "groups"


@each_choice
def test_the_backward_pass_keeps_no_more_than_is_counted_on(axis, name):
    """In tensors of the size of the scores, where these are most of what is kept."""
    one = made(axis, name)
    one.implementation = Definition()
    B, T = 2, 96
    x = torch.randn(B, T, 16)
    kept = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = (storage.nbytes(), storage)
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        y, _ = one(x, one.start(B))
    scores = backend.SCORE_BYTES * B * one.shape.heads * T * T
    total = sum(size for size, _ in kept.values())
    assert total < (backend.SAVED + 1) * scores


# --- what it computes ------------------------------------------------------------------------


def outputs_and_gradients(one, x) -> list:
    """Attend with three blocks of a stream; return outputs and gradients."""
    past = one.start(x.size(1))
    loss = 0.0
    outputs = []
    for block in x:
        y, past = one(block, past)
        loss = loss + (y * y).sum() + y.sum()
        outputs.append(y)
    loss.backward()
    gradients = [each.grad for each in one.parameters() if each.grad is not None]
    return [*outputs, *gradients]


@each_choice
def test_blocks_of_a_stream_have_the_definitions_numbers(axis, name):
    torch.manual_seed(0)
    one = made(axis, name)
    x = torch.randn(3, 2, 6, 16)
    one.implementation = Definition()
    expected = outputs_and_gradients(one, x)
    one.zero_grad()
    engine = Engine()
    one.implementation = engine
    with build.without(), Numbers():
        for part in one.modules():
            for key, parameter in part._parameters.items():
                if parameter is not None:
                    moved = Elsewhere(parameter.detach())
                    part._parameters[key] = torch.nn.Parameter(moved)
        found = outputs_and_gradients(one, Elsewhere(x))
    assert all(line.endswith("definition") for line in engine.backend.counts_in_words())
    for ours, theirs in zip(found, expected, strict=True):
        assert_close(ours.here, theirs)


@each_choice
def test_chunks_of_queries_have_the_definitions_numbers(axis, name):
    torch.manual_seed(0)
    one = made(axis, name).double()
    B, T, S = 2, 37, 19
    inputs = torch.randn(S, B, 16).double()
    x = torch.randn(B, T, 16).double().requires_grad_()
    wanted = [x, *one.parameters()]
    results = []
    for attend in (formula.attend, attend_in_chunks):
        y, (past,) = attend_block(one, x, (inputs,), S, attend)
        gradients = torch.autograd.grad(y.square().sum() + y.sum(), wanted, allow_unused=True)
        results.append([y, past, *(each for each in gradients if each is not None)])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)


def test_dropout_in_chunks_is_that_of_their_backward_pass():
    """The gradient is that of the function that was computed: its scores are drawn once."""
    one = made("span", "full").double()
    one.dropout = 0.5
    q, k, v = (torch.randn(1, 4, n, 4).double().requires_grad_() for n in (32, 48, 48))

    def loss(v):
        torch.manual_seed(3)
        return attend_in_chunks(q, k, v, None, one, reach=48, drop=one.drop).square().sum()

    torch.autograd.gradcheck(loss, (v,))


def peak_bytes(attend) -> int:
    """Measure what a layer's forward and backward pass hold at once, at S = 8,192."""
    one = made("normaliser", "sparsemax")
    S, T = 8192, 128
    q = torch.randn(1, 4, T, 4, requires_grad=True)
    k, v = (torch.randn(1, 4, S + T, 4, requires_grad=True) for _ in range(2))
    with profile(profile_memory=True) as profiled:
        y = attend(q, k, v, None, one, reach=S)
        y.sum().backward()
    held = 0
    most = 0
    for event in profiled.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


def test_chunks_take_a_quarter_of_the_definitions_memory_at_most():
    with build.without():
        assert peak_bytes(attend_in_chunks) < peak_bytes(formula.attend) / 4


# --- how many keys ---------------------------------------------------------------------------


class Device:
    """Numbers arrive when `come` is called."""

    def __init__(self):
        self.sent = []
        self.here = False

    def read_later(self, numbers):
        self.sent.append(numbers.here.tolist())
        self.here = False
        return lambda: self.sent[-1] if self.here else None

    def come(self) -> None:
        self.here = True


@contextmanager
def learned(reach: int, monkeypatch) -> Iterator:
    """Give a layer with an adaptive span, a function that sets how far it reaches, and the
    device.
    """
    device = Device()
    monkeypatch.setattr(window, "read_later", device.read_later)
    span = {"name": "adaptive", "limit": LIMIT, "ramp": 32}
    one = layer(16, 4, span=span, position="nope").train()

    def grow(reach: int) -> None:
        fraction = torch.zeros(4, 1, 1)
        fraction[2] = (reach - 32) / LIMIT
        one.span._parameters["fraction"] = torch.nn.Parameter(Elsewhere(fraction))

    grow(reach)
    with Numbers():
        yield one, grow, device


def test_a_window_is_a_power_of_two_and_follows_the_reach_once_it_has_arrived(monkeypatch):
    x = torch.zeros(1, 1, 16)
    with learned(100, monkeypatch) as (one, grow, device):
        of_layer = Window()
        assert of_layer.of(one, x) == 256
        grow(150)
        widths = {of_layer.of(one, x) for _ in range(2 * READ_EVERY)}
        assert widths == {256}  # what was asked for has not arrived
        device.come()
        for _ in range(READ_EVERY):
            of_layer.of(one, x)
        device.come()
        grow(250)
        assert of_layer.of(one, x) == 256
        for _ in range(READ_EVERY):
            of_layer.of(one, x)
        device.come()
        assert of_layer.of(one, x) == 512
        grow(32)
        for _ in range(READ_EVERY):
            of_layer.of(one, x)
        device.come()
        assert of_layer.of(one, x) == 128
        of_layer.check()


@pytest.mark.parametrize("at_the_end", [True, False])
def test_a_reach_beyond_the_window_is_never_cut_in_silence(at_the_end, monkeypatch):
    x = torch.zeros(1, 1, 16)
    with learned(150, monkeypatch) as (one, grow, device):
        of_layer = Window()
        assert of_layer.of(one, x) == 256
        grow(256 + SPARE)
        of_layer.of(one, x)
        grow(40)  # and back again
        if at_the_end:
            with pytest.raises(TooNarrow, match=f"{SPARE} keys beyond"):
                of_layer.check()
            return
        device.come()
        with pytest.raises(TooNarrow, match="backend 'definition'"):  # noqa: PT012
            for _ in range(2 * READ_EVERY):
                of_layer.of(one, x)
                device.come()


def test_no_window_is_wider_than_the_limit_and_one_that_is_as_wide_is_never_too_narrow(monkeypatch):
    x = torch.zeros(1, 1, 16)
    with learned(LIMIT - 10, monkeypatch) as (one, grow, device):
        of_layer = Window()
        assert of_layer.of(one, x) == LIMIT
        grow(2 * LIMIT)
        assert of_layer.of(one, x) == LIMIT
        of_layer.check()


@pytest.mark.parametrize("span", ["fixed", "full", "sinks", "dynamic"])
def test_of_other_spans_no_number_is_read(span, monkeypatch):
    monkeypatch.setattr(window, "read_later", None)
    one = made("span", span)
    limit = one.span.limit
    found = Window().of(one, torch.zeros(1, 1, 16))
    assert found == limit if limit else found > LIMIT
