"""What every choice of attention must do, alone and combined. A new choice inherits these tests."""

import pytest
import torch

from models.attention import formula
from models.attention.choice import Shape
from models.attention.engine import band
from models.attention.engine.engine import Engine
from models.attention.layers import CHOICES, StreamAttention, build_choice, public_class
from models.attention.variant import farthest
from tests._equivalence import results
from tests._nets import (
    COMBINATIONS,
    PAIRS,
    assert_same,
    by_definition,
    example,
    label,
    make,
    read,
    with_gradients,
)
from workflow.config import choices
from workflow.config.choices import choice_facts, choice_names, choice_settings
from workflow.config.errors import ConfigError

SYMBOLS = 31
ONE = Shape(4, 1, 2, 3)
NETS = ["char_lm", pytest.param("transformer_xl", marks=pytest.mark.slow)]
each_pair = pytest.mark.parametrize("attention", PAIRS, ids=label)
each_net = pytest.mark.parametrize("net", NETS)


@pytest.mark.parametrize("axis", CHOICES)
def test_models_and_config_find_the_same_choices(axis):
    assert sorted(CHOICES[axis]) == list(choice_names(axis))


@pytest.mark.parametrize("axis, name", [(axis, name) for axis in CHOICES for name in CHOICES[axis]])
def test_a_choice_declares_what_it_reports_and_a_subclass_is_no_kernel(axis, name):
    """The plan and the pages read a fact's title and unit from the source, not from the class."""
    choice = build_choice(axis, example(axis, name), Shape(12, 3))
    declared = {fact.name: fact for fact in choice_facts()}
    for key, value in choice.facts().items():
        titles = choice.measures_by_head if declared[key].by_head else choice.measures
        assert titles[key] == (declared[key].title, declared[key].unit)
        assert isinstance(value, list) == declared[key].by_head
    assert type("Other", (type(choice),), {}).kernel is None


@pytest.mark.parametrize("name", CHOICES["position"])
def test_a_position_declares_what_a_score_costs(name):
    position = build_choice("position", example("position", name), Shape(12, 3))
    assert (position.keys(3) is not None) == position.has_keys
    assert (position.bias(torch.arange(1, 4)) is not None) == position.has_bias


@pytest.mark.parametrize(
    "name, source", [("nothing", "class _Helper: ..."), ("two", "class A: ...\nclass B: ...")]
)
def test_a_file_without_one_public_class_is_no_choice(name, source, tmp_path, monkeypatch):
    (tmp_path / "spans").mkdir()
    (tmp_path / "spans" / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=f"spans.{name} .* one class"):
        public_class(f"spans.{name}")
    monkeypatch.setattr(choices, "ATTENTION", tmp_path)
    monkeypatch.setattr(choices, "choice_names", lambda axis: (name,))
    with pytest.raises(ConfigError, match="one class"):
        choice_settings("span", name)


def sums_to_one(attention) -> bool:
    return CHOICES["normaliser"][attention["normaliser"]["name"]].sums_to_one


def stream(length=23, batch=2):
    """Draw streams in which no token comes twice; rounding would choose among equal keys."""
    generator = torch.Generator().manual_seed(5)
    rows = [torch.randperm(SYMBOLS, generator=generator)[:length] for _ in range(batch)]
    return torch.stack(rows)


@pytest.mark.parametrize(
    "net, attention",
    [
        *(pytest.param("char_lm", each, id=label(each)) for each in COMBINATIONS),
        *(
            pytest.param("transformer_xl", each, id=f"xl-{label(each)}", marks=pytest.mark.slow)
            for each in PAIRS
        ),
    ],
)
def test_engine_equals_definition_with_gradients_to_every_parameter(net, attention, monkeypatch):
    monkeypatch.setattr(band, "QUERIES", 3)  # several chunks to a block
    model = make(attention, net, SYMBOLS)
    ours = with_gradients(model, read(model, stream(), 7))
    definition = by_definition(make(attention, net, SYMBOLS))
    oracle = with_gradients(definition, read(definition, stream(), 7))
    assert_same(ours, oracle)
    assert all(gradient.abs().sum() > 0 for gradient in ours.values())


def whole_numbers(axis: str, attention) -> list[str]:
    """Name the settings of a choice that are whole numbers, of those that it is given."""
    known = choice_settings(axis, attention[axis]["name"])
    return [
        key
        for key, setting in known.items()
        if setting.kind == "int" and attention[axis].get(key) is not None
    ]


def at_its_ends(attention, whole: int, learned: float) -> StreamAttention:
    """Make a layer of one head in 32 bits.

    whole: all its settings that are whole numbers; learned: where its span or alpha has gone.
    """
    torch.manual_seed(0)
    made = []
    for axis in CHOICES:
        ends = dict.fromkeys(whole_numbers(axis, attention), whole)
        made.append(build_choice(axis, attention[axis] | ends, ONE))
    layer = StreamAttention(ONE, *made, attends_self=False)
    for choice in layer.choices[:3]:
        for parameter in choice.parameters():
            if parameter.numel() == ONE.heads:
                parameter.data.fill_(learned)
        choice.after_step()
    return layer


@pytest.mark.parametrize("learned", [-1e9, 1e9])
@pytest.mark.parametrize("whole", [1, 5])  # one key, and as many as there are: S = R = k
@each_pair
def test_at_the_ends_of_every_range_all_code_gives_the_definitions_numbers_in_32_bits(
    attention, whole, learned
):
    for axis, key in ((each, key) for each in CHOICES for key in whole_numbers(each, attention)):
        for outside in (0, -3, 1.5):  # so 1 is the end
            with pytest.raises(ConfigError, match="a whole number of at least 1"):
                choices.AttentionChoices(**attention | {axis: attention[axis] | {key: outside}})
            with pytest.raises(ValueError, match="at least 1|a whole number"):
                build_choice(axis, attention[axis] | {key: outside}, ONE)
    layer = at_its_ends(attention, whole, learned)
    x = torch.randn(2, 4, 4)
    past = torch.randn(1, 2, 4)
    direction = torch.randn(2, 4, 1, 3)

    def computed_by(implementation, x, past) -> dict[str, torch.Tensor]:
        def attend(x):
            y, _ = implementation.attend(layer, x, (past,))
            return y

        return results(attend, layer, direction, x)

    # `auto`: the compiled code where it knows the choices
    implementations = [Engine("band"), Engine("auto"), formula.Definition()]
    found = [computed_by(each, x, past) for each in implementations]
    layer.double()
    layer.span._fraction = None  # what a span remembers of the last block
    exact = computed_by(formula.Definition(), x.double(), past.double())
    for name, tensor in exact.items():
        for each in found:
            torch.testing.assert_close(
                each[name].double(), tensor, rtol=1e-4, atol=1e-5, msg=lambda m, n=name: n + m
            )


@each_net
@each_pair
def test_the_future_is_never_seen(attention, net):
    model = make(attention, net, SYMBOLS).eval()
    tokens = stream()
    changed = tokens.clone()
    changed[:, 15:] = (changed[:, 15:] + 1) % SYMBOLS
    before = read(model, tokens, 7)
    after = read(model, changed, 7)
    assert torch.equal(before[:, :15], after[:, :15])
    assert not torch.equal(before[:, 15:], after[:, 15:])


@pytest.mark.parametrize("attention", [each for each in PAIRS if sums_to_one(each)], ids=label)
def test_rows_sum_to_one(attention):
    layer = make(attention, symbols=SYMBOLS).attentions[0]
    ones = torch.ones(2, 3, 20, 4, dtype=torch.float64)
    q = torch.randn(2, 3, 7, 4).double()
    k = torch.randn(2, 3, 20, 4).double()
    z = layer.span.extent(torch.randn(2, 7, 12).double())
    y = formula.attend(q, k, ones, z, layer, reach=farthest(layer, 20))
    torch.testing.assert_close(y, torch.ones_like(y))


@pytest.mark.slow
@each_pair
def test_reading_key_by_key_equals_reading_in_blocks(attention):
    """In evaluation the cached keys and values are the same however the stream is cut."""
    span = attention["span"]
    if span["name"] in ("full", "fixed", "dynamic") or span["limit"] <= 64:
        model = make(attention, symbols=SYMBOLS).eval()
        by_key = read(model, stream(), 1)
        in_blocks = read(model, stream(), 7)
        torch.testing.assert_close(by_key, in_blocks, rtol=1e-9, atol=1e-10)
