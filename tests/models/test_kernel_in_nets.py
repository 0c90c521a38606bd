"""A net that computes with the kernel, on a GPU or in Triton's interpreter, and one that does
without it.
"""

import re
from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch

pytest.importorskip("triton", reason="triton has no build for this platform")

from triton.compiler.errors import CompilationError

from models.attention.engine import backend
from models.attention.engine.equivalence import Case, Mismatch, cases_of
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.kernels.compiled import build
from tests._banded import DEVICE, small_tiles
from tests._nets import COMBINATIONS, assert_same, label, make, read, with_gradients
from workflow.training import backends
from workflow.training.backends import chosen, prepare

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
OTHERS = {"selection": {"name": "all"}, "normaliser": {"name": "softmax"}}
KNOWN = {
    "span": ("fixed", "full", "adaptive", "dynamic"),
    "position": ("relative", "transformer_xl"),
}
COVERED = [
    each
    for each in COMBINATIONS
    if each | OTHERS == each and all(each[axis]["name"] in names for axis, names in KNOWN.items())
]
DYNAMIC = {
    **OTHERS,
    "span": {"name": "dynamic", "limit": 8, "ramp": 3},
    "position": {"name": "transformer_xl"},
}


@pytest.fixture
def interpreted(monkeypatch):
    """Let the kernel compute without a GPU too."""

    def obstacle(group, q, v, position_keys):
        d_r = 0 if position_keys is None else position_keys.size(-2)
        return backend.kernel_obstacle(group, q.size(-1), d_r, v.size(-1))

    monkeypatch.setattr(backend, "_triton_obstacle", obstacle)
    with small_tiles(monkeypatch):
        yield


def results(net, name: str) -> dict[str, torch.Tensor]:
    """Compute two blocks by a backend."""
    prepare(net, name, CPU, torch.float64)
    return with_gradients(
        net, read(net, torch.arange(36, device=DEVICE).remainder(11).view(2, 18), 9)
    )


@pytest.mark.slow
@pytest.mark.parametrize("attention", COVERED, ids=label)
def test_a_net_gives_the_definitions_numbers(attention, interpreted):
    net = make(attention).to(DEVICE)
    assert_same(*(results(net, name) for name in ("triton", "definition")))


def test_a_layer_is_checked_as_what_it_is():
    cases = {each["span"]["name"]: cases_of(make(each).attentions[0]) for each in COVERED}
    (full,), (dynamic,) = cases["full"], cases["dynamic"]
    assert cases["full"] == cases["fixed"] == {Case(full.shape, Fixed, None, full.attends_self)}
    assert (dynamic.span, dynamic.ramp, dynamic.drop) == (Dynamic, 3, 0.0)
    with_dropout = make(DYNAMIC, attention_dropout=0.4).attentions[0]
    assert cases_of(with_dropout) == {dynamic, replace(dynamic, drop=0.4)}
    for change in ({"selection": {"name": "top_k", "k": 3}}, {"position": {"name": "none"}}):
        assert not cases_of(make(DYNAMIC | change).attentions[0])


NOT_RUN = "it could not be run"
FAULTS = [
    (Mismatch("differs in the gradient of z"), "differs in the gradient of z"),
    (ModuleNotFoundError("No module"), f"{NOT_RUN}: ModuleNotFoundError: No module"),
    (
        CompilationError("x = y", None, "y is undefined"),
        f"{NOT_RUN}: CompilationError: x = y ... y is undefined",
    ),
]
each_fault = pytest.mark.parametrize(
    "error, reason", FAULTS, ids=lambda error: type(error).__name__
)


@pytest.fixture
def faulty(monkeypatch):
    """Return what makes the check of the kernel raise an error."""
    return lambda error: monkeypatch.setattr(backends, "check_equivalence", Mock(side_effect=error))


@each_fault
def test_auto_does_without_a_kernel_at_fault_and_says_why(error, reason, faulty, interpreted):
    faulty(error)
    net, tokens = make(DYNAMIC).to(DEVICE), torch.zeros(2, 7, dtype=torch.long, device=DEVICE)
    prepare(net, "auto", CUDA, torch.float32)
    with build.without():
        net(tokens, net.start(2))
    work = f"{DEVICE} float64: Dynamic All Softmax, reach <= 8, T <= 8, backward: band (2)"
    assert chosen(net) == [f"cuda float32: kernel not used: {reason}", work]


@each_fault
def test_triton_asked_for_by_name_refuses(error, reason, faulty):
    faulty(error)
    with pytest.raises(Mismatch, match=f"^{re.escape(reason)}$"):
        prepare(make(DYNAMIC), "triton", CUDA, torch.float32)
