"""Which code computes a layer, and the reason that is given."""

import pytest
import torch

from models.attention.engine.compiled import compiled_obstacle
from models.attention.engine.engine import Engine
from models.attention.layers import CHOICES
from models.kernels.compiled import build
from models.library import layer
from workflow.config.choices import AXES, choice_names, has_kernel

X = torch.zeros(1, 2, 8)
needs_compiler = pytest.mark.skipif(build.obstacle() is not None, reason="nothing is compiled")


def route(backend: str, training: bool = True, is_stream: bool = True, normaliser="softmax"):
    made = layer(8, 2, normaliser=normaliser).train(training)
    return Engine(backend).route(made, X, is_stream=is_stream)


@needs_compiler
@pytest.mark.parametrize("is_stream", [True, False])
def test_all_heads_at_once_where_the_library_can(is_stream):
    assert route("auto", is_stream=is_stream).code == "compiled"


@needs_compiler
@pytest.mark.parametrize("axis", AXES)
def test_the_plan_knows_which_choices_compiled_code_does(axis):
    """A card's baseline is measured without compiled code where the variant is."""
    for name in choice_names(axis):
        made = layer(8, 2, **{axis: {"name": name, **CHOICES[axis][name].example}})
        # a scale of scores may act in evaluation alone, so both modes count
        is_compiled = not any(compiled_obstacle(made.train(mode), X) for mode in (True, False))
        assert is_compiled == has_kernel(axis, name), name


@needs_compiler
def test_groups_have_caches_in_evaluation():
    assert route("auto", training=False).code == "groups"


@pytest.mark.parametrize("is_stream, code", [(True, "groups"), (False, "definition")])
@pytest.mark.parametrize("asked, word", [("band", "band"), ("auto", "switched off")])
def test_without_the_library_the_reason_says_why(is_stream, code, asked, word):
    with build.without():
        found = route(asked, is_stream=is_stream)
    assert found.code == code
    assert word in found.reason
