"""What a choice does to the weights: that it does anything, and what its file says. A new choice
inherits these tests.

Each is looked at alone, on the plain attention that the other choices of its axis are looked at on.
"""

import inspect
import sys
from itertools import product

import pytest
import torch

from models.attention import formula
from models.attention.layers import CHOICES
from models.attention.variant import farthest
from tests._nets import NET, build, example, make

PLAIN = {"span": "full", "selection": "all", "normaliser": "softmax", "position": "none"}
KEYS, QUERIES, SYMBOLS = 20, 7, 11
EVERY = [(axis, name) for axis in CHOICES for name in CHOICES[axis]]


def attention_with(axis: str, name: str, **settings) -> dict:
    plain = {each: example(each, choice) for each, choice in PLAIN.items()}
    return plain | {axis: example(axis, name) | settings}


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(
        shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape))
    )


def weigh(layer, equal_keys: bool = False) -> torch.Tensor:
    """Compute the weights of a layer by the definition: B h T K."""
    q, k, inputs = drawn(2, 3, QUERIES, 4), drawn(2, 3, KEYS, 4), drawn(2, QUERIES, 12)
    k = k[:, :, :1].expand_as(k) if equal_keys else k
    z = layer.span.extent(inputs)
    return formula.weights(q, k, z, layer, reach=farthest(layer, KEYS))


def layer_of(axis: str, name: str, **settings):
    """Return the first layer of a net whose parameters have moved."""
    return make(attention_with(axis, name, **settings), symbols=SYMBOLS).attentions[0]


def check_no_other_choice_gives_its_weights(axis: str, name: str):
    """Hold that it does something: one that does nothing is the plain choice."""
    mine = weigh(layer_of(axis, name))
    for other in CHOICES[axis]:
        assert other == name or not torch.allclose(mine, weigh(layer_of(axis, other))), other


def check_every_setting_changes_something(axis: str, name: str):
    parameters = inspect.signature(CHOICES[axis][name].__init__).parameters.values()
    settings = {each.name: each.default for each in parameters if each.kind == each.KEYWORD_ONLY}
    settings |= CHOICES[axis][name].example
    before = outcome(axis, name)
    for key, value in settings.items():
        other = 3 if value is None else max(1, value // 2) if isinstance(value, int) else value / 2
        after = outcome(axis, name, **{key: other})
        assert not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)), key


def outcome(axis: str, name: str, **settings) -> list[torch.Tensor]:
    """Compute all that a choice decides: weights at the start, later and in evaluation, penalty,
    what is cached.
    """
    attention = attention_with(axis, name, **settings)
    torch.manual_seed(0)
    first = build({**NET, "name": "char_lm"}, attention, SYMBOLS).double().attentions[0]
    later = layer_of(axis, name, **settings)
    weights = [weigh(first), weigh(later)]
    penalty, cached = (
        torch.as_tensor(later.span.penalty()),
        torch.tensor(later.span.cache_length(KEYS)),
    )
    return [*weights, penalty, cached, weigh(later.eval())]


def check_it_depends_on_the_distance_as_it_says(axis: str, name: str):
    """Hold that equal keys at different distances weigh alike exactly where the choice needs no
    distance.
    """
    layer = layer_of(axis, name)
    seen = weigh(layer, equal_keys=True)[:, :, -1, : KEYS - 1 + layer.attends_self]
    assert torch.allclose(seen, seen.mean()) != CHOICES[axis][name].needs_distance


def check_the_farthest_key_with_weight_is_the_one_it_reaches(axis: str, name: str):
    layer = layer_of(axis, name)
    distance = torch.arange(KEYS - QUERIES, KEYS)[:, None] - torch.arange(KEYS) + layer.attends_self
    distance[:, : layer.span.first] = 0
    farthest = ((weigh(layer) > 0) * distance).amax((0, 2, 3))
    reach = layer.span.reach(layer.span.extent(drawn(2, QUERIES, 12)))
    assert torch.equal(farthest, reach.clamp(max=int(distance.max())))


def check_it_keeps_scores_as_they_are_and_k_of_them(axis: str, name: str):
    selection, scores = layer_of(axis, name).selection, drawn(2, 3, QUERIES, KEYS)
    kept = selection(scores)
    finite = kept.isfinite()
    assert torch.equal(kept[finite], scores[finite]) and finite.any(-1).all()
    if k := getattr(selection, "k", None):
        assert torch.equal(
            finite, scores >= scores.sort(-1, descending=True).values[..., k - 1 : k]
        )


def check_it_rises_with_the_score_and_has_zeros_where_it_is_sparse(axis: str, name: str):
    """Hold it for scores up to 20 apart, where softmax still has 2e-9; sparse is what is made with
    `_sparse.py`.
    """
    scores = 20 * torch.rand(2, 3, QUERIES, KEYS, dtype=torch.float64).sort(-1).values
    p = layer_of(axis, name).normaliser(scores)
    assert (p.diff(dim=-1) >= 0).all()
    sparse = hasattr(sys.modules[CHOICES[axis][name].__module__], "through_jacobian")
    assert (p == 0).any() == sparse


def check_it_turns_by_the_difference_of_places_and_keeps_the_number_type(axis: str, name: str):
    position, place = layer_of(axis, name).position, torch.arange(QUERIES)
    q, k = drawn(2, 3, QUERIES, 4), drawn(3, 2, QUERIES, 4).transpose(0, 1)
    scores = [
        (position.turn(q, place + n) * position.turn(k, 2 * place + n)).sum(-1) for n in (0, 9, 500)
    ]
    for other in scores[1:]:
        torch.testing.assert_close(scores[0], other, rtol=1e-9, atol=1e-9)
    for dtype in (torch.bfloat16, torch.float32):
        assert position.turn(q.to(dtype), place).dtype == dtype


OF_ALL = (check_no_other_choice_gives_its_weights, check_every_setting_changes_something)
OF_AXIS = {
    "span": (
        check_it_depends_on_the_distance_as_it_says,
        check_the_farthest_key_with_weight_is_the_one_it_reaches,
    ),
    "selection": (check_it_keeps_scores_as_they_are_and_k_of_them,),
    "normaliser": (check_it_rises_with_the_score_and_has_zeros_where_it_is_sparse,),
    "position": (
        check_it_depends_on_the_distance_as_it_says,
        check_it_turns_by_the_difference_of_places_and_keeps_the_number_type,
    ),
}


@pytest.mark.parametrize(
    "axis, name, check",
    [(axis, name, check) for axis, name in EVERY for check in OF_ALL + OF_AXIS[axis]],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_choice(axis, name, check):
    check(axis, name)


def idle(axis: str) -> type:
    """Make a choice that says that it looks at the distance, takes a setting, and does nothing."""

    def __init__(self, shape, *, strength=0.5):
        plain.__init__(self, shape, **plain.example)

    plain = CHOICES[axis][PLAIN[axis]]
    return type("Idle", (plain,), {"__init__": __init__, "needs_distance": True, "example": {}})


@pytest.mark.parametrize(
    "axis, check",
    [
        *product(CHOICES, OF_ALL),
        *product(("span", "position"), [check_it_depends_on_the_distance_as_it_says]),
    ],
)
def test_a_choice_that_does_nothing_fails(axis, check, monkeypatch):
    monkeypatch.setitem(CHOICES[axis], "idle", idle(axis))
    with pytest.raises(AssertionError):
        check(axis, "idle")
