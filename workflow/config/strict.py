"""Closed schemas: an unknown key is refused with the nearest valid one, and bad input ends in one
line.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, TypeVar, get_args, get_origin

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from workflow.config.errors import ConfigError, UnknownKey, check_known, shown
from workflow.config.files import shown_path
from workflow.config.places import Place, Placed, PlacedList, find, placed, placed_by_name

# Whole numbers as they are written: neither true nor '500' nor 6.0 passes for one. No count or seed
# is larger than what a double holds without rounding.
LARGEST = 2**53
NOWHERE: dict[str, type[BaseModel]] = {}
# may become the name of a file
Name = Annotated[str, Field(pattern=r"^\w[\w .,=+()-]*$", max_length=100)]
# pydantic adds them to a place that takes several types
ALTERNATIVES = ("int", "constrained-int", "str", "dict")
StrictInt = Annotated[int, Field(strict=True, le=LARGEST)]
PositiveStrictInt = Annotated[PositiveInt, Field(strict=True, le=LARGEST)]


def one_of(what: str, valid) -> AfterValidator:
    """Make an annotation that raises `ConfigError` with the nearest name unless the value is one of
    `valid`.

    valid: names, or a function that gives them when a value is checked, so that importing a schema
    reads no file.
    """

    def known(value):
        check_known(what, value, valid() if callable(valid) else valid)
        return value

    return AfterValidator(known)


class StrictModel(BaseModel):
    # A run that diverged has NaN in its curve: it is written as NaN, for a null could not be read
    # back as a number.
    # Deferred: a process needs a few of all schemas, and each takes pydantic milliseconds.
    model_config = ConfigDict(
        defer_build=True, extra="forbid", ser_json_inf_nan="constants", allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def only_known_keys(cls, raw):
        if not isinstance(raw, dict):
            return raw
        fields = cls.model_fields  # looked up once: a record has a thousand keys
        for key, value in raw.items():
            if key not in fields:
                _refuse_unknown(key, raw, fields)
            if isinstance(value, bool | str | list | dict):
                annotation = fields[str(key)].annotation
                if _takes_numbers(annotation):
                    _refuse_quoted(key, value, raw)
        return raw


def _refuse_unknown(key, raw: dict, fields: Iterable[str]) -> None:
    try:
        check_known("key", key, fields)
    except ConfigError as error:
        raise UnknownKey(str(error), str(key), tuple(fields), find(raw, [key])) from None


@cache
def _takes_numbers(annotation) -> bool:
    """Say whether a place takes numbers, alone, in lists or by name, and no text."""
    if get_origin(annotation) is Annotated:
        return _takes_numbers(get_args(annotation)[0])
    inside = get_args(annotation)
    if not inside:
        return annotation in (int, float)
    if get_origin(annotation) is dict:
        inside = inside[1:]
    values = [each for each in inside if each not in (type(None), Ellipsis)]
    return all(map(_takes_numbers, values))


def _refuse_quoted(key, value, raw: dict) -> None:
    """Raise `ConfigError` for a text, true or false in place of a number: a number has no
    quotes.
    """
    for each in _leaves(value):
        if isinstance(each, bool | str):
            error = ConfigError(f"{key} = {shown(each)}: must be a number, without quotes")
            error.place = find(raw, [key])
            raise error


def _leaves(value) -> Iterator:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


class FrozenModel(StrictModel):
    """One that nobody changes once it is read."""

    model_config = ConfigDict(frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def parse(
    model: type[Model],
    raw,
    where: str,
    *,
    part: bool = False,
    elsewhere: dict[str, type[BaseModel]] = NOWHERE,
) -> Model | None:
    """Parse `raw` as `model`; `ConfigError` names the file and line, the key, the value, and what
    would be valid.

    part: of a document, where a key that is left out is no mistake; None where one is. elsewhere:
    by place, what a key may belong to besides the parts of this model.
    """
    try:
        return model.model_validate(raw)
    except UnknownKey as error:
        raise placed(_line_of(error, model, elsewhere), where, error.place) from None
    except ConfigError as error:
        raise placed_by_name(error, raw, where) from None
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        if part:
            wrong = [each for each in wrong if each["type"] != "missing"]
        if wrong:
            raise _first_refusal(wrong, where, raw) from None


def _line_of(
    error: UnknownKey, model: type[BaseModel], elsewhere: dict[str, type[BaseModel]]
) -> str:
    """Say where a key belongs that is valid elsewhere; of any other the nearest name."""
    others = {"at the top": model, **_parts_of(model), **elsewhere}
    known = [place for place, other in others.items() if error.key in other.model_fields]
    if not known:
        return str(error)
    places = " or ".join(known)
    valid = ", ".join(sorted(error.valid))
    return f"unknown key '{error.key}': it belongs {places}; valid here: {valid}"


@cache
def _parts_of(model: type[BaseModel], above: str = "") -> dict[str, type[BaseModel]]:
    """Map places in a document to the models of what is there: `under grid`, `under
    variants.NAME`.
    """
    parts: dict[str, type[BaseModel]] = {}
    for name, field in model.model_fields.items():
        for each, place in _models_in(field.annotation, f"{above}{name}"):
            parts[f"under {place}"] = each
            parts |= _parts_of(each, f"{place}.")
    return parts


def _models_in(annotation, place: str) -> Iterator[tuple[type[BaseModel], str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, place
    inside = get_args(annotation)
    if get_origin(annotation) is dict:
        inside = inside[1:]
        place = f"{place}.NAME"
    for each in inside:
        yield from _models_in(each, place)


def _first_refusal(errors: list[dict], where: str, raw) -> ConfigError:
    first = errors[0]
    if first["type"] == "missing":
        missing = []
        for each in errors:
            if each["type"] == "missing":
                missing.append(f"'{_place(each)}'")
        verb = "is" if len(missing) == 1 else "are"
        line = f"{', '.join(missing)} {verb} missing"
        return placed(line, where, find(raw, first["loc"]))
    # A place that takes several types has an error for each; those inside a list that is one of
    # them say the most.
    above = f"{_place(first)}."
    inside = [each for each in errors if f"{_place(each)}.".startswith(above)]
    place = max(map(_place, inside), key=lambda each: each.count("."))
    told = [each for each in inside if _place(each) == place]
    value = shown(told[0]["input"])
    messages = [each["msg"] for each in told]
    said = " or ".join(dict.fromkeys(messages))
    said = said.replace(" or Input should ", " or ")
    what = f"{place} = {value}" if place else value
    at = find(raw, told[0]["loc"])
    return placed(f"{what}: {said}", where, at)


def _place(error: dict) -> str:
    parts = [str(part) for part in error["loc"] if part not in ALTERNATIVES]
    return ".".join(part for part in parts if "[" not in part)


def parse_json(text: str | bytes, where: str):
    """Parse a JSON text; `ConfigError` where it is none."""
    try:
        return from_json(text)
    except ValueError as error:
        raise ConfigError(f"{where}: truncated or not JSON ({error})") from None


def read_json(path: Path, what: str = ""):
    """Read a JSON file. what: said of the file where it holds none."""
    where = shown_path(path)
    if what:
        where = f"{where}: {what}"
    return parse_json(path.read_bytes(), where)


class UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML without code, by libyaml where it is there, ten times as fast; a key given twice
    is refused.
    """

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{name}' is given twice", key.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep)

    file = ""  # where it reads

    def construct_placed_mapping(self, node):
        """Make a mapping whose values know their places. In two steps, for an anchor within it may
        refer to it.
        """
        mapping = Placed()
        yield mapping
        mapping.update(self.construct_mapping(node))
        # a value of several lines begins at the line of its key
        places = {}
        for key, value in node.value:
            line = value if isinstance(value, yaml.ScalarNode) else key
            places[self.construct_object(key)] = self._place(line)
        mapping.places = places

    def construct_placed_list(self, node):
        """Make a list whose elements know their places."""
        elements = PlacedList()
        yield elements
        elements.extend(self.construct_sequence(node))
        elements.places = {}
        for index, value in enumerate(node.value):
            elements.places[index] = self._place(value)

    def _place(self, node) -> Place:
        return Place(self.file, node.start_mark.line + 1)


yaml.SafeDumper.add_representer(Placed, yaml.SafeDumper.represent_dict)
yaml.SafeDumper.add_representer(PlacedList, yaml.SafeDumper.represent_list)
UniqueKeyLoader.add_constructor("tag:yaml.org,2002:map", UniqueKeyLoader.construct_placed_mapping)
UniqueKeyLoader.add_constructor("tag:yaml.org,2002:seq", UniqueKeyLoader.construct_placed_list)


# YAML 1.1 takes 2e-6, without a point, for a text
NUMBER = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")
UniqueKeyLoader.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, list("-+0123456789"))


def load_yaml(text: str, loader: type[UniqueKeyLoader] = UniqueKeyLoader, file: str = ""):
    """Parse a YAML text; `ConfigError` where it is none. file: its path; without one no
    value has a place.
    """
    try:
        reader = loader(text)
        reader.file = file
        try:
            content = reader.get_single_data()
        finally:
            reader.dispose()
        return content
    except (yaml.YAMLError, ValueError) as error:
        line = " ".join(str(error).split()).replace('in "<unicode string>", line', "in line")
        raise ConfigError(f"not YAML: {line}") from None


def parse_python(path: Path) -> ast.Module:
    """Parse a Python file without running it, once for each content; `ConfigError` where it is
    none.

    The same content of the same file is the same object.
    """
    try:
        return _parse_source(path, path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{shown_path(path)}: not Python: {error}") from None


@cache
def _parse_source(path: Path, source: str) -> ast.Module:
    return ast.parse(source)


def read_yaml(path: Path, loader: type[UniqueKeyLoader] = UniqueKeyLoader) -> dict:
    """Read the keys and values of a YAML file; none of an empty one."""
    try:
        content = load_yaml(path.read_text(encoding="utf-8"), loader, shown_path(path))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown_path(path)}: not YAML: {error}") from None
    except ConfigError as error:
        raise ConfigError(f"{shown_path(path)}: {error}") from None
    if not isinstance(content, dict | None):
        raise ConfigError(f"{shown_path(path)}: expected keys and values, got {shown(content)}")
    return content or {}
