"""What every choice of attention must do, alone and combined. A new choice inherits these tests."""

from copy import deepcopy

import pytest
import torch
from torch.testing import assert_close

from models.attention import formula
from models.attention.choice import Shape
from models.attention.engine import band
from models.attention.engine.engine import Engine
from models.attention.layers import CHOICES, StreamAttention, build_choice
from models.attention.variant import farthest
from tests import _models
from tests._equivalence import results
from tests._models import COMBINATIONS, PAIRS, draw, example, label, make, read
from workflow.config.choices import choice_facts, choice_names, choice_settings

SYMBOLS = 31
ONE = Shape(
    d_model=4,
    heads=1,
    d_k=2,
    d_v=3,
)
TWELVE = Shape(12, 3)
EVERY = [(axis, name) for axis in CHOICES for name in CHOICES[axis]]


def of_model(net: str, combinations: list[dict], prefix: str = "", marks=()) -> list:
    params = []
    for each in combinations:
        name = prefix + label(each)
        params.append(pytest.param(net, each, id=name, marks=marks))
    return params


ALL = of_model("char_lm", COMBINATIONS)
FEW = of_model("char_lm", PAIRS)
XL = of_model("transformer_xl", PAIRS, prefix="xl-", marks=pytest.mark.slow)
each_pair = pytest.mark.parametrize("attention", PAIRS, ids=label)


@pytest.mark.parametrize("axis, name", EVERY)
def test_the_config_reads_from_a_file_what_its_class_declares(axis, name):
    """Facts have their title and unit; a subclass has no kernel."""
    assert name in choice_names(axis)
    choice = build_choice(axis, example(axis, name), TWELVE)
    declared = {fact.name: fact for fact in choice_facts()}
    for key, value in choice.facts().items():
        fact = declared[key]
        titles = choice.measures_by_head if fact.by_head else choice.measures
        assert titles[key] == (fact.title, fact.unit)
        assert isinstance(value, list) == fact.by_head

    class Other(type(choice)):
        pass

    assert Other.kernel is None


@pytest.mark.parametrize("name", CHOICES["position"])
def test_a_position_declares_what_a_score_costs(name):
    position = build_choice("position", example("position", name), TWELVE)
    distance = torch.arange(1, 4)
    keys = position.keys(3)
    bias = position.bias(distance)
    assert (keys is not None) == position.has_keys
    assert (bias is not None) == position.has_bias


def stream():
    """Draw streams in which no token comes twice; rounding would choose among equal keys."""
    generator = torch.Generator().manual_seed(5)
    first = torch.randperm(SYMBOLS, generator=generator)
    second = torch.randperm(SYMBOLS, generator=generator)
    both = torch.stack([first, second])
    return both[:, :23]


@pytest.mark.parametrize("net, attention", ALL + XL)
def test_engine_equals_definition_with_gradients_to_every_parameter(net, attention, monkeypatch):
    monkeypatch.setattr(band, "QUERIES", 3)  # several chunks to a block
    model = make(attention, net, SYMBOLS)
    definition = make(attention, net, SYMBOLS)
    _models.by_definition(definition)
    found = []
    for each in (model, definition):
        logits = read(each, stream(), 7)
        found.append(_models.with_gradients(each, logits))
    assert_close(*found)
    for name, gradient in found[0].items():
        assert gradient.any(), name


def with_whole_numbers(axis: str, choice: dict, value: float) -> dict:
    """Give this value to the settings of a choice that are whole numbers."""
    changed = dict(choice)
    for key, setting in choice_settings(axis, choice["name"]).items():
        if setting.kind == "int" and choice.get(key) is not None:
            changed[key] = value
    return changed


@pytest.mark.parametrize("learned", [-1e9, 1e9])  # where a span or alpha has gone
@pytest.mark.parametrize("whole", [1, 5])  # one key, and as many as there are: S = R = k
@each_pair
def test_at_the_ends_of_every_range_all_code_gives_the_definitions_numbers_in_32_bits(
    attention, whole, learned
):
    at_ends = {}
    for axis in CHOICES:
        at_ends[axis] = with_whole_numbers(axis, attention[axis], whole)
    choices = _models.build_choices(at_ends, ONE)
    layer = StreamAttention(ONE, *choices, attends_self=False)
    for choice in layer.choices[:3]:
        for parameter in choice.parameters():
            if parameter.numel() == ONE.heads:
                parameter.data.fill_(learned)
        choice.after_step()
    x = torch.randn(2, 4, 4)
    past = torch.randn(1, 2, 4)
    direction = torch.randn(2, 4, 1, 3)

    def computed_by(implementation, dtype) -> dict[str, torch.Tensor]:
        layer.to(dtype)
        # what a span remembers of the last block
        layer.span._fraction = None
        cached = (past.to(dtype),)

        def attend(x):
            y, _ = implementation.attend(layer, x, cached)
            return y.double()

        return results(attend, layer, direction, x.to(dtype))

    exact = computed_by(formula.Definition(), torch.float64)
    # `auto`: the compiled code where it knows the choices
    for implementation in (Engine("band"), Engine("auto"), formula.Definition()):
        found = computed_by(implementation, torch.float32)
        assert_close(
            found,
            exact,
            rtol=1e-4,
            atol=1e-5,
            check_dtype=False,
        )


@pytest.mark.parametrize("net, attention", FEW + XL)
def test_the_future_is_never_seen(net, attention):
    model = make(attention, net, SYMBOLS).eval()
    tokens = stream()
    other = tokens.clone()
    future = other[:, 15:]
    future += 1
    future %= SYMBOLS
    before = read(model, tokens, 7)
    after = read(model, other, 7)
    assert torch.equal(before[:, :15], after[:, :15])
    assert not torch.equal(before[:, 15:], after[:, 15:])


@each_pair
def test_rows_sum_to_one(attention):
    layer = make(attention).attentions[0]
    if not layer.normaliser.sums_to_one:
        pytest.skip("weights of this normaliser need not sum to one")
    q = draw(2, 3, 7, 4)
    k = draw(2, 3, 20, 4)
    x = draw(2, 7, 12)
    z = layer.span.extent(x)
    reach = farthest(layer, 20)
    p = formula.weights(q, k, z, layer, reach=reach)
    ones = torch.ones(2, 3, 7).double()
    assert_close(p.sum(-1), ones)


@each_pair
def test_a_model_that_was_trained_and_evaluated_can_be_copied(attention):
    """What a task scores in 64 bits, or with sharper scores, is scored on a copy."""
    model = make(attention, symbols=SYMBOLS)
    read(model, stream(), 7).sum().backward()
    expected = read(model.eval(), stream(), 7)
    assert_close(read(deepcopy(model), stream(), 7), expected)


@pytest.mark.slow
@each_pair
def test_reading_key_by_key_equals_reading_in_blocks(attention):
    """In evaluation the cached keys and values are the same however the stream is cut."""
    span = attention["span"]
    is_short = span["name"] in ("full", "fixed", "dynamic") or span["limit"] <= 64
    if is_short:
        model = make(attention, symbols=SYMBOLS).eval()
        by_key = read(model, stream(), 1)
        in_blocks = read(model, stream(), 7)
        assert_close(by_key, in_blocks)
