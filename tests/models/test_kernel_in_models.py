"""A model that computes with the kernel, on a GPU or in Triton's interpreter, or without it."""

from dataclasses import replace
from unittest.mock import Mock

import pytest
import torch
from torch.testing import assert_close

pytest.importorskip("triton", reason="triton has no build for this platform")

from triton.compiler.errors import CompilationError

from models.attention.engine import backend
from models.attention.engine.equivalence import Case, Mismatch, cases_of
from models.attention.selections.top_k import TopK
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from tests._banded import DEVICE, small_tiles
from tests._models import PLAIN, example, make, read, with_gradients
from workflow.training import backends
from workflow.training.backends import chosen, prepare

CPU = torch.device("cpu")
CUDA = torch.device("cuda")


def attention_of(span: str, position: str = "transformer_xl") -> dict:
    return PLAIN | {"span": example("span", span), "position": example("position", position)}


def results(model, name: str) -> dict[str, torch.Tensor]:
    """Compute two blocks by a backend."""
    prepare(model, name, CPU, torch.float64)
    tokens = torch.arange(36, device=DEVICE).remainder(11).view(2, 18)
    return with_gradients(model, read(model, tokens, 9))


@pytest.mark.slow
@pytest.mark.parametrize("position", ["relative", "transformer_xl"])
@pytest.mark.parametrize("span", ["fixed", "full", "adaptive", "dynamic"])
def test_a_model_gives_the_definitions_numbers(span, position, monkeypatch):
    def obstacle(group, q, v, position_keys):
        d_r = position_keys.size(-2)
        return backend.kernel_obstacle(group, q.size(-1), d_r, v.size(-1))

    # without a GPU too
    monkeypatch.setattr(backend, "_triton_obstacle", obstacle)
    model = make(attention_of(span, position)).to(DEVICE)
    with small_tiles(monkeypatch):
        ours = results(model, "triton")
    assert_close(ours, results(model, "definition"))


@pytest.mark.parametrize("span, checked", [("fixed", Fixed), ("full", Fixed), ("dynamic", Dynamic)])
def test_a_layer_is_checked_as_what_it_is(span, checked):
    layer = make(attention_of(span), attention_dropout=0.4).attentions[0]
    ramp = getattr(layer.span, "ramp", None)
    case = Case(layer.shape, checked, ramp, layer.attends_self)
    assert cases_of(layer) == {case, replace(case, drop=0.4)}
    layer.selection = TopK(layer.shape, k=3)
    assert not cases_of(layer)


@pytest.mark.parametrize(
    "error, told",
    [
        (Mismatch("differs in the gradient of z"), "differs in the gradient of z"),
        (ModuleNotFoundError("No module"), "ModuleNotFoundError: No module"),
        (CompilationError("x = y", None, "y is undefined"), "CompilationError.* y is undefined"),
    ],
)
def test_auto_does_without_a_kernel_at_fault_and_triton_refuses(error, told, monkeypatch):
    monkeypatch.setattr(backends, "check_equivalence", Mock(side_effect=error))
    model = make(attention_of("dynamic"))
    prepare(model, "auto", CUDA, torch.float32)
    model(torch.zeros(2, 7, dtype=torch.long), model.start(2))
    why, used = chosen(model)
    assert why.startswith("cuda float32: ") and "triton" not in used
    with pytest.raises(Mismatch, match=told) as refusal:
        prepare(model, "triton", CUDA, torch.float32)
    assert str(refusal.value) in why
