"""A choice's settings are what its file's annotations say, for the plan as for the library."""

import pytest

from models.attention import choice as base
from models.attention.choice import Shape
from models.attention.layers import CHOICES, build_choice, public_class
from models.library import attention
from tests.models.test_library import drawn
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
    """Return a function that adds a span of the user's own, from its source."""

    def add(source: str) -> None:
        (tmp_path / "spans").mkdir()
        (tmp_path / "spans" / "strided.py").write_text(source)
        monkeypatch.setattr(choices, "ATTENTION", tmp_path)
        monkeypatch.setattr(choices, "choice_names", lambda axis: ("strided",))
        choices._declared.cache_clear()

    yield add
    monkeypatch.undo()
    choices._declared.cache_clear()


WRONG = {
    "stride": (2.5, 0, -3, 8, "2", True, None),
    "share": (0, 1.5, float("nan"), float("inf"), "1", True),
}
RIGHT = {"stride": (1, 7), "share": (1, 1.0, 0.5, None)}


@pytest.mark.parametrize(
    "key, value", [(key, value) for key, values in WRONG.items() for value in values]
)
def test_a_setting_outside_its_range_is_refused_by_plan_and_library(
    key, value, strided, tmp_path, monkeypatch
):
    strided(STRIDED)
    with pytest.raises(
        ConfigError, match=f"span 'strided': {key} must be a (whole )?number .*, got"
    ):
        complete_choice("span", {"name": "strided", "limit": 8, key: value}, {}, {})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(CHOICES["span"], "strided", public_class("spans.strided"))
    with pytest.raises(ValueError, match=f"{key} must be"):
        build_choice("span", {"name": "strided", "limit": 8, key: value}, Shape(4, 2))


@pytest.mark.parametrize(
    "key, value", [(key, value) for key, values in RIGHT.items() for value in values]
)
def test_a_setting_within_its_range_is_taken(key, value, strided, tmp_path, monkeypatch):
    strided(STRIDED)
    assert (
        complete_choice("span", {"name": "strided", "limit": 8, key: value}, {}, {})[key] == value
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(CHOICES["span"], "strided", public_class("spans.strided"))
    assert build_choice("span", {"name": "strided", "limit": 8, key: value}, Shape(4, 2)).limit == 8


@pytest.mark.parametrize(
    "old, new, line",
    [
        ("Annotated[int, Range(ge=1)]", ": str", "line 13: limit needs a type: int or float"),
        (
            "Range(gt=0, le=1)",
            "Range(gt=0, el=1)",
            "line 15: share: unknown bound of a range 'el': did you mean 'lt'?",
        ),
        (
            'lt="limit"',
            'lt="limt"',
            "line 14: stride: unknown setting in a range 'limt': did you mean 'limit'?",
        ),
        (
            "Range(gt=0, le=1)",
            "Field(gt=0, le=1)",
            r"line 15: share: expected a range such as Range\(ge=1\)",
        ),
        (
            "Range(gt=0, le=1)",
            "Range(gt=LOW)",
            r"line 15: share: expected a range such as Range\(ge=1\)",
        ),
    ],
)
def test_an_annotation_that_says_no_range_is_named_with_its_line(old, new, line, strided):
    strided(STRIDED.replace(f": {old}" if new == ": str" else old, new, 1))
    with pytest.raises(ConfigError, match=f"strided.py, {line}"):
        choice_settings("span", "strided")


@pytest.mark.parametrize(
    "axis, name", [(axis, name) for axis in CHOICES for name in choice_names(axis)]
)
def test_every_choice_says_what_its_settings_are(axis, name):
    """Each is a number with a range, or any number; its example and its defaults are within it."""
    known, example = choice_settings(axis, name), CHOICES[axis][name].example
    for key, setting in known.items():
        value = example.get(key, setting.default)
        assert value is choices.REQUIRED or not setting.refusal(key, value, example), key
        assert setting.bounds or key == "start"  # of a dynamic span: any number


def test_models_and_config_know_the_same_bounds():
    assert set(base.Range.__dataclass_fields__) == set(BOUNDS)


@pytest.mark.parametrize("value", [0, -3, 2.5, True])
def test_the_library_refuses_what_a_plan_refuses(value):
    with pytest.raises(ValueError, match="limit must be"):
        attention(*drawn(), span={"name": "fixed", "limit": value})
