"""Closed schemas: an unknown key is refused with the nearest valid one, and bad input ends in one line."""

import json
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from workflow.config.errors import ConfigError, check_known

# Whole numbers as they are written: neither true nor '500' nor 6.0 passes for one.
StrictInt = Annotated[int, Field(strict=True)]
PositiveStrictInt = Annotated[PositiveInt, Field(strict=True)]
DEEPEST = 2000  # levels of YAML that are left to libyaml


def one_of(what: str, valid) -> AfterValidator:
    """For an annotation: `ConfigError` with the nearest name unless the value is one of `valid`.

    valid: names, or a function that gives them when a value is checked, so that importing a schema reads no file.
    """

    def known(value):
        check_known(what, value, valid() if callable(valid) else valid)
        return value

    return AfterValidator(known)


class StrictModel(BaseModel):
    # A run that diverged has NaN in its curve: written as such, and not as null, which no number is read from.
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    @model_validator(mode="before")
    @classmethod
    def only_known_keys(cls, raw):
        for key, value in raw.items() if isinstance(raw, dict) else ():
            check_known("key", key, cls.model_fields)
            if isinstance(value, bool) and cls.model_fields[str(key)].annotation is float:
                raise ConfigError(f"{key} = {value}: must be a number")
        return raw


class FrozenModel(StrictModel):
    """One that nobody changes once it is read."""

    model_config = ConfigDict(frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], raw, where: str) -> Model:
    """`raw` as `model`, or `ConfigError`: the file, the key, the value, what would be valid."""
    try:
        return model.model_validate(raw)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        value = repr(first["input"])
        shown = value if len(value) <= 60 else f"{value[:57]}..."
        raise ConfigError(f"{where}: {'.'.join(map(str, first['loc']))} = {shown}: {first['msg']}") from None


def parse_json(text: str | bytes, where: str):
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{where}: truncated or not JSON ({error})") from None


class _KeysOnce:
    """As YAML says and its loaders do not check: no key stands twice."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen and key.value != "<<":
                raise yaml.constructor.ConstructorError(None, None, f"key '{key.value}' stands twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


class _Loader(_KeysOnce, yaml.SafeLoader):
    pass


class _FastLoader(_KeysOnce, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """libyaml where it is there, ten times as fast. It ends the process where a text nests some ten thousand deep."""


def read_yaml(path: Path) -> dict:
    try:
        return load_yaml(path.read_text(encoding="utf-8")) or {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _deepest_nesting(text: str) -> int:
    """No text nests deeper: each level opens a bracket, or is indented by one more."""
    return text.count("[") + text.count("{") + max(map(len, text.splitlines()), default=0)


def load_yaml(text: str):
    try:
        return yaml.load(text, _FastLoader if _deepest_nesting(text) < DEEPEST else _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from None
