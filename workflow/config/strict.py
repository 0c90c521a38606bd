"""Closed schemas: an unknown key is refused with the nearest valid one, and bad input ends in one line."""

import ast
import re
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator
from pydantic_core import from_json

from workflow.config.errors import ConfigError, check_known, shown

# Whole numbers as they are written: neither true nor '500' nor 6.0 passes for one. No count or seed is larger than what
# a double holds without rounding.
LARGEST = 2**53
Name = Annotated[str, Field(pattern=r"^\w[\w .,=+()-]*$", max_length=100)]  # may become the name of a file
ALTERNATIVES = ("int", "constrained-int", "str", "dict")  # pydantic adds them to a place that takes several types
StrictInt = Annotated[int, Field(strict=True, le=LARGEST)]
PositiveStrictInt = Annotated[PositiveInt, Field(strict=True, le=LARGEST)]


def one_of(what: str, valid) -> AfterValidator:
    """Make an annotation that raises `ConfigError` with the nearest name unless the value is one of `valid`.

    valid: names, or a function that gives them when a value is checked, so that importing a schema reads no file.
    """

    def known(value):
        check_known(what, value, valid() if callable(valid) else valid)
        return value

    return AfterValidator(known)


class StrictModel(BaseModel):
    # A run that diverged has NaN in its curve: it is written as NaN, for a null could not be read back as a number.
    # Deferred: a process needs a few of all schemas, and each takes pydantic milliseconds.
    model_config = ConfigDict(defer_build=True, extra="forbid", ser_json_inf_nan="constants", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def only_known_keys(cls, raw):
        fields = cls.model_fields  # looked up once: a record has a thousand keys
        for key, value in raw.items() if isinstance(raw, dict) else ():
            if key not in fields:
                check_known("key", key, fields)
            if isinstance(value, bool) and fields[str(key)].annotation is float:
                raise ConfigError(f"{key} = {value}: must be a number")
        return raw


class FrozenModel(StrictModel):
    """One that nobody changes once it is read."""

    model_config = ConfigDict(frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], raw, where: str, *, part: bool = False) -> Model | None:
    """Parse `raw` as `model`; `ConfigError` names the file, the key, the value, and what would be valid.

    part: of a document, where a key that is left out is no mistake; None where one is.
    """
    try:
        return model.model_validate(raw)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except ValidationError as error:
        if wrong := [each for each in error.errors(include_url=False) if not part or each["type"] != "missing"]:
            raise _first_refusal(wrong, where) from None


def _first_refusal(errors: list[dict], where: str) -> ConfigError:
    first = errors[0]
    if first["type"] == "missing":
        missing = [f"'{_place(each)}'" for each in errors if each["type"] == "missing"]
        return ConfigError(f"{where}: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    # A place that takes several types has an error for each; those inside a list that is one of them say the most.
    inside = [each for each in errors if f"{_place(each)}.".startswith(f"{_place(first)}.")]
    place = max(map(_place, inside), key=lambda each: each.count("."))
    told = [each for each in inside if _place(each) == place]
    value, said = shown(told[0]["input"]), " or ".join(dict.fromkeys(each["msg"] for each in told))
    said = said.replace(" or Input should ", " or ")
    return ConfigError(f"{where}: {f'{place} = {value}' if place else value}: {said}")


def _place(error: dict) -> str:
    return ".".join(str(part) for part in error["loc"] if part not in ALTERNATIVES and "[" not in str(part))


def parse_json(text: str | bytes, where: str):
    """Parse a JSON text; `ConfigError` where it is none."""
    try:
        return from_json(text)
    except ValueError as error:
        raise ConfigError(f"{where}: truncated or not JSON ({error})") from None


def read_json(path: Path, what: str = ""):
    """Read a JSON file. what: said of the file where it holds none."""
    return parse_json(path.read_bytes(), f"{path}: {what}" if what else str(path))


class UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML without code, by libyaml where it is there, ten times as fast; a key that stands twice is refused."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if (name := str(key.value)) in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key '{name}' stands twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


# YAML 1.1 takes 2e-6, without a point, for a text
NUMBER = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")
UniqueKeyLoader.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, list("-+0123456789"))


def load_yaml(text: str, loader: type[UniqueKeyLoader] = UniqueKeyLoader):
    """Parse a YAML text; `ConfigError` where it is none."""
    try:
        return yaml.load(text, loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from None


def parse_python(path: Path) -> ast.Module:
    """Parse a Python file without running it; `ConfigError` where it is none."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: not Python: {error}") from None


def read_yaml(path: Path, loader: type[UniqueKeyLoader] = UniqueKeyLoader) -> dict:
    """Read the keys and values of a YAML file; none of an empty one."""
    try:
        content = load_yaml(path.read_text(encoding="utf-8"), loader)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content, dict | None):
        raise ConfigError(f"{path}: expected keys with values, got {shown(content)}")
    return content or {}
