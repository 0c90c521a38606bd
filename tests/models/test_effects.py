"""What a choice does to the weights: that it does anything, and what its file says.

A new choice inherits these tests. Each choice is combined with the plain choices of other axes.
"""

import inspect

import pytest
import torch

from models.attention import formula
from models.attention.layers import CHOICES
from models.attention.variant import farthest, stream_scales
from tests._models import PLAIN, SIZES, build, draw, example, make

KEYS = 20
QUERIES = 7
EVERY = [(axis, name) for axis in CHOICES for name in CHOICES[axis]]
# differ in what a model may add to its input, not in their scores
ALIKE = [{"none", "nope"}]
each_choice = pytest.mark.parametrize("axis, name", EVERY)


def attention_with(axis: str, name: str, **settings) -> dict:
    return PLAIN | {axis: example(axis, name) | settings}


def layer_of(axis: str, name: str):
    """Return the first layer of a model whose parameters have moved."""
    model = make(attention_with(axis, name))
    first, *_ = model.attentions
    return first


def weigh(layer, k=None) -> torch.Tensor:
    """Compute the weights of a layer by the definition: B h T K."""
    q = draw(2, 3, QUERIES, 4)
    if k is None:
        k = draw(2, 3, KEYS, 4)
    x = draw(2, QUERIES, 12)
    z = layer.span.extent(x)
    s = stream_scales(layer, x, KEYS, QUERIES, x.device)
    return formula.weights(
        q,
        k,
        z,
        layer,
        reach=farthest(layer, KEYS),
        s=s,
    )


@each_choice
def test_no_other_choice_gives_its_weights(axis, name):
    """One that does nothing is the plain choice."""
    mine = weigh_with(axis, name)
    for other in CHOICES[axis].keys() - {name}:
        if {name, other} in ALIKE:
            continue
        others = weigh_with(axis, other)
        assert not torch.allclose(mine, others), other


def weigh_with(axis: str, name: str) -> torch.Tensor:
    """Weigh in training and in evaluation, with parameters away from their start."""
    layer = layer_of(axis, name)
    with torch.no_grad():
        for parameter in layer.normaliser.parameters():
            parameter += 0.3
    in_training = weigh(layer)
    in_evaluation = weigh(layer.eval())
    return torch.stack([in_training, in_evaluation])


def settings_of(axis: str, name: str) -> dict:
    """Return all settings of a choice, with a value each."""
    settings = {}
    choice = CHOICES[axis][name]
    signature = inspect.signature(choice.__init__)
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.KEYWORD_ONLY:
            settings[parameter.name] = parameter.default
    return settings | choice.example


OTHER_WORD = {"scaled": "one", "published": "ascending"}


def another(value):
    if value is None:
        return 3
    if isinstance(value, str):
        return OTHER_WORD[value]
    if isinstance(value, int):
        return max(1, value // 2)
    return value / 2


def outcome(attention: dict) -> list[torch.Tensor]:
    """Compute all that a choice decides: weights, penalty, what is cached."""
    torch.manual_seed(0)
    model = build(SIZES, attention, 11).double()
    at_start = model.attentions[0]
    later = make(attention).attentions[0]
    return [
        weigh(at_start),
        weigh(later),
        torch.as_tensor(later.span.penalty()),
        torch.tensor(later.span.cache_length(KEYS)),
        weigh(later.eval()),
    ]


@each_choice
def test_every_setting_changes_something(axis, name):
    plain = attention_with(axis, name)
    before = outcome(plain)
    for key, value in settings_of(axis, name).items():
        changed = {key: another(value)}
        attention = attention_with(axis, name, **changed)
        after = outcome(attention)
        assert not all(map(torch.equal, before, after)), key


@each_choice
def test_it_depends_on_the_distance_as_it_says(axis, name):
    """Equal keys weigh alike exactly where the choice needs no distance."""
    if axis not in ("span", "position"):
        pytest.skip("it knows no distances")
    layer = layer_of(axis, name)
    same_key = draw(2, 3, 1, 4).expand(2, 3, KEYS, 4)
    weights = weigh(layer, same_key)
    last = weights[:, :, -1]
    seen = last if layer.attends_self else last[..., :-1]
    is_alike = torch.allclose(seen, seen.mean())
    assert is_alike != CHOICES[axis][name].needs_distance
