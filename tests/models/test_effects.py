"""What a choice does to the weights: that it does anything, and what its file says.

A new choice inherits these tests. Each choice is combined with the plain choices of other axes.
"""

import inspect
import sys

import pytest
import torch

from models.attention import formula
from models.attention.layers import CHOICES
from models.attention.variant import farthest
from tests._nets import NET, build, example, make

PLAIN = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}
KEYS = 20
QUERIES = 7
SYMBOLS = 11
EVERY = [(axis, name) for axis in CHOICES for name in CHOICES[axis]]
each_choice = pytest.mark.parametrize("axis, name", EVERY)


def of_axis(*axes: str):
    chosen = [(axis, name) for axis, name in EVERY if axis in axes]
    return pytest.mark.parametrize("axis, name", chosen)


def attention_with(axis: str, name: str, **settings) -> dict:
    plain = {each: example(each, choice) for each, choice in PLAIN.items()}
    return plain | {axis: example(axis, name) | settings}


def drawn(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator)


def weigh(layer, equal_keys: bool = False) -> torch.Tensor:
    """Compute the weights of a layer by the definition: B h T K."""
    q = drawn(2, 3, QUERIES, 4)
    k = drawn(2, 3, KEYS, 4)
    if equal_keys:
        k = k[:, :, :1].expand_as(k)
    z = layer.span.extent(drawn(2, QUERIES, 12))
    return formula.weights(q, k, z, layer, reach=farthest(layer, KEYS))


def layer_of(axis: str, name: str, **settings):
    """Return the first layer of a model whose parameters have moved."""
    return make(attention_with(axis, name, **settings), symbols=SYMBOLS).attentions[0]


@each_choice
def test_no_other_choice_gives_its_weights(axis, name):
    """One that does nothing is the plain choice."""
    mine = weigh(layer_of(axis, name))
    for other in CHOICES[axis]:
        assert other == name or not torch.allclose(mine, weigh(layer_of(axis, other))), other


@each_choice
def test_every_setting_changes_something(axis, name):
    parameters = inspect.signature(CHOICES[axis][name].__init__).parameters.values()
    settings = {each.name: each.default for each in parameters if each.kind == each.KEYWORD_ONLY}
    settings |= CHOICES[axis][name].example
    before = outcome(axis, name)
    for key, value in settings.items():
        after = outcome(axis, name, **{key: _another(value)})
        assert not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)), key


def _another(value):
    if value is None:
        return 3
    return max(1, value // 2) if isinstance(value, int) else value / 2


def outcome(axis: str, name: str, **settings) -> list[torch.Tensor]:
    """Compute all that a choice decides.

    Weights at the start, later and in evaluation, penalty, what is cached.
    """
    attention = attention_with(axis, name, **settings)
    torch.manual_seed(0)
    first = build({**NET, "name": "char_lm"}, attention, SYMBOLS).double().attentions[0]
    later = layer_of(axis, name, **settings)
    return [
        weigh(first),
        weigh(later),
        torch.as_tensor(later.span.penalty()),
        torch.tensor(later.span.cache_length(KEYS)),
        weigh(later.eval()),
    ]


@of_axis("span", "position")
def test_it_depends_on_the_distance_as_it_says(axis, name):
    """Equal keys weigh alike exactly where the choice needs no distance."""
    layer = layer_of(axis, name)
    seen = weigh(layer, equal_keys=True)[:, :, -1, : KEYS - 1 + layer.attends_self]
    assert torch.allclose(seen, seen.mean()) != CHOICES[axis][name].needs_distance


@of_axis("span")
def test_the_farthest_key_with_weight_is_the_one_it_reaches(axis, name):
    layer = layer_of(axis, name)
    query = torch.arange(KEYS - QUERIES, KEYS)
    distance = query[:, None] - torch.arange(KEYS) + layer.attends_self
    distance[:, : layer.span.first] = 0
    longest = ((weigh(layer) > 0) * distance).amax((0, 2, 3))
    reach = layer.span.reach(layer.span.extent(drawn(2, QUERIES, 12)))
    assert torch.equal(longest, reach.clamp(max=int(distance.max())))


@of_axis("selection")
def test_it_keeps_scores_as_they_are_and_k_of_them(axis, name):
    selection = layer_of(axis, name).selection
    scores = drawn(2, 3, QUERIES, KEYS)
    kept = selection(scores)
    finite = kept.isfinite()
    assert torch.equal(kept[finite], scores[finite]) and finite.any(-1).all()
    k = getattr(selection, "k", None)
    if k:
        threshold = scores.sort(-1, descending=True).values[..., k - 1 : k]
        assert torch.equal(finite, scores >= threshold)


@of_axis("normaliser")
def test_it_rises_with_the_score_and_has_zeros_where_it_is_sparse(axis, name):
    """For scores up to 20 apart, where softmax still has 2e-9; sparse is what uses `_sparse.py`."""
    scores = 20 * torch.rand(2, 3, QUERIES, KEYS, dtype=torch.float64)
    p = layer_of(axis, name).normaliser(scores.sort(-1).values)
    assert (p.diff(dim=-1) >= 0).all()
    is_sparse = hasattr(sys.modules[CHOICES[axis][name].__module__], "through_jacobian")
    assert (p == 0).any() == is_sparse


@of_axis("position")
def test_it_turns_by_the_difference_of_places_and_keeps_the_number_type(axis, name):
    position = layer_of(axis, name).position
    place = torch.arange(QUERIES)
    q = drawn(2, 3, QUERIES, 4)
    k = drawn(3, 2, QUERIES, 4).transpose(0, 1)

    def scores(n: int) -> torch.Tensor:
        return (position.turn(q, place + n) * position.turn(k, 2 * place + n)).sum(-1)

    for n in (9, 500):
        torch.testing.assert_close(scores(0), scores(n), rtol=1e-9, atol=1e-9)
    for dtype in (torch.bfloat16, torch.float32):
        assert position.turn(q.to(dtype), place).dtype == dtype
