"""A choice's settings are what its file's annotations say, for the plan as for the library."""

import pytest

from models.attention.choice import Range, Shape
from models.attention.layers import CHOICES, build_choice, public_class
from workflow.config import choices
from workflow.config.choices import BOUNDS, choice_names, choice_settings, complete_choice
from workflow.config.errors import ConfigError

STRIDED = """
from typing import Annotated

from models.attention.choice import Range, Shape
from models.attention.spans._span import Span


class Strided(Span):
    def __init__(
        self,
        shape: Shape,
        *,
        limit: Annotated[int, Range(ge=1)],
        stride: Annotated[int, Range(ge=1, lt="limit")] = 1,
        share: Annotated[float | None, Range(gt=0, le=1)] = None,
    ):
        super().__init__(shape)
        self.limit = limit
"""


@pytest.fixture
def strided(tmp_path, monkeypatch):
    """Return a function that adds a custom span, from its source."""

    def add(source: str) -> None:
        (tmp_path / "spans").mkdir()
        (tmp_path / "spans" / "strided.py").write_text(source)
        monkeypatch.setattr(choices, "ATTENTION", tmp_path)
        monkeypatch.setattr(choices, "choice_names", lambda axis: ("strided",))
        choices._declared.cache_clear()
        monkeypatch.syspath_prepend(tmp_path)

    yield add
    monkeypatch.undo()
    choices._declared.cache_clear()


WRONG = {"stride": (2.5, 0, 8, "2", True, None), "share": (0, 1.5, float("nan"), "1", True)}
RIGHT = {"stride": (1, 7), "share": (1, 0.5, None)}
VALUES = [(key, value, False) for key, values in WRONG.items() for value in values]
VALUES += [(key, value, True) for key, values in RIGHT.items() for value in values]


@pytest.mark.parametrize("key, value, valid", VALUES)
def test_plan_and_library_accept_the_same_settings(key, value, valid, strided, monkeypatch):
    strided(STRIDED)
    monkeypatch.setitem(CHOICES["span"], "strided", public_class("spans.strided"))
    choice = {"name": "strided", "limit": 8, key: value}
    if valid:
        assert complete_choice("span", choice, {}, {})[key] == value
        assert build_choice("span", choice, Shape(4, 2)).limit == 8
        return
    with pytest.raises(ConfigError, match=f"'strided': {key} must be"):
        complete_choice("span", choice, {}, {})
    with pytest.raises(ValueError, match=f"{key} must be"):
        build_choice("span", choice, Shape(4, 2))


@pytest.mark.parametrize(
    "old, new, line",
    [
        (": Annotated[int, Range(ge=1)]", ": str", "line 13: limit"),
        ("Range(gt=0, le=1)", "Range(gt=0, el=1)", "line 15: share: .*'el': did you mean 'lt'"),
        ('lt="limit"', 'lt="limt"', "line 14: stride: .*'limt': did you mean 'limit'"),
        ("Range(gt=0, le=1)", "Field(gt=0, le=1)", "line 15: share"),
        ("Range(gt=0, le=1)", "Range(gt=LOW)", "line 15: share"),
    ],
)
def test_an_annotation_that_says_no_range_is_named_with_its_line(old, new, line, strided):
    strided(STRIDED.replace(old, new, 1))
    with pytest.raises(ConfigError, match=f"strided.py, {line}"):
        choice_settings("span", "strided")


@pytest.mark.parametrize(
    "axis, name", [(axis, name) for axis in CHOICES for name in choice_names(axis)]
)
def test_the_example_and_defaults_of_every_choice_are_within_their_ranges(axis, name):
    example = CHOICES[axis][name].example
    for key, setting in choice_settings(axis, name).items():
        value = example.get(key, setting.default)
        if value is not choices.REQUIRED:
            assert not setting.refusal(key, value, example), key


def test_models_and_config_know_the_same_bounds():
    assert set(Range.__dataclass_fields__) == set(BOUNDS)
