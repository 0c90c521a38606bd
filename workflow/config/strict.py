"""Closed schemas: an unknown key is refused with the nearest valid one, and bad input ends in one line."""

import json
import re
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from workflow.config.errors import ConfigError, check_known, cut, shown
from workflow.config.loaders import loader_for

# Whole numbers as they are written: neither true nor '500' nor 6.0 passes for one. No count or seed is larger than what
# a double holds without rounding.
LARGEST = 2**53
LARGEST_FILE = 1 << 30  # bytes of JSON
Name = Annotated[str, Field(pattern=r"^\w[\w .,=+()-]*$", max_length=100)]  # of what may become a file's
HALF = rb"\\u[dD]"  # of a letter beyond 16 bits
ALTERNATIVES = ("int", "constrained-int", "str", "dict")  # pydantic names them in a place where several types may stand
StrictInt = Annotated[int, Field(strict=True, le=LARGEST)]
PositiveStrictInt = Annotated[PositiveInt, Field(strict=True, le=LARGEST)]


def one_of(what: str, valid) -> AfterValidator:
    """For an annotation: `ConfigError` with the nearest name unless the value is one of `valid`.

    valid: names, or a function that gives them when a value is checked, so that importing a schema reads no file.
    """

    def known(value):
        check_known(what, value, valid() if callable(valid) else valid)
        return value

    return AfterValidator(known)


class StrictModel(BaseModel):
    # A run that diverged has NaN in its curve, and its record says that it may: written as such, and not as null, which
    # no number is read from.
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants", allow_inf_nan=False)

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
        first = error.errors(include_url=False)[0]
        place = ".".join(cut(str(part)) for part in first["loc"] if part not in ALTERNATIVES and "[" not in str(part))
        value = shown(first["input"])
        raise ConfigError(f"{where}: {f'{place} = {value}' if place else value}: {first['msg'][:300]}") from None


def parse_json(text: str | bytes, where: str):
    """What a JSON text holds; `ConfigError` where it is none, or holds half a letter, which no file takes."""
    try:
        content = json.loads(text)
        if re.search(HALF if isinstance(text, bytes) else HALF.decode(), text):
            json.dumps(content, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: truncated or not JSON ({error})") from None
    return content


def read_json(path: Path, what: str = ""):
    """What a JSON file holds. what: what it is not where it is none."""
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise ConfigError(f"{path}: {size:,} bytes, at most {LARGEST_FILE:,} are read")
    return parse_json(path.read_bytes(), f"{path}: {what}" if what else str(path))


def read_yaml(path: Path) -> dict:
    """The keys and values of a file; none of an empty one."""
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(content, dict | None):
        raise ConfigError(f"{path}: expected keys with values, got {shown(content)}")
    return content or {}


def load_yaml(text: str):
    try:
        return yaml.load(text, loader_for(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from None
