"""Know what can be chosen on each axis of attention, read from the source without importing torch.

A choice is one file in one of the four folders of `models/attention/`, and its one class without a
leading _. Its name is the file's name; its settings are the keyword-only arguments of its class,
their ranges in the annotations. So a dry run knows every name, every setting and its range, and the
file of maths stays the only place that states them.
"""

import ast
import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import model_validator

from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.files import list_folder
from workflow.config.strict import FrozenModel, parse_python

ATTENTION = Path(__file__).parents[2] / "models" / "attention"
AXES = {  # axis -> folder
    "span": "spans",
    "selection": "selections",
    "normaliser": "normalisers",
    "position": "positions",
}
REQUIRED = object()
# of `models.attention.choice.Range`
BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
# what a setting may be, by the name of its type
KINDS = {"int": "a whole number", "float": "a number"}


@dataclass(frozen=True)
class Setting:
    """A setting of a choice. default: `REQUIRED` where it has none. kind: of `KINDS`. optional:
    whether null is valid.

    bounds: by the keywords of `BOUNDS`, numbers or names of other settings of the choice.
    """

    default: Any
    kind: str
    optional: bool
    bounds: dict[str, float | str]

    def refusal(self, name: str, value: Any, others: dict[str, Any]) -> str | None:
        """Say why a value is not valid, and what would be; None where it is.

        others: the choice's other settings, as far as they are known.
        """
        if value is None and self.optional:
            return None
        bounds, said = {}, []
        for key, bound in self.bounds.items():
            limit = others.get(bound) if isinstance(bound, str) else bound
            if _is_number(limit, "float"):
                bounds[key] = limit
                said.append(
                    f"{BOUNDS[key]} {f'{bound} = ' if isinstance(bound, str) else ''}{limit:g}"
                )
        if _is_number(value, self.kind) and all(_holds(value, *bound) for bound in bounds.items()):
            return None
        said = " and ".join(said)
        said = f" of {said}" if said.startswith("at") else f" {said}".rstrip()
        return f"{name} must be {KINDS[self.kind]}{said}{', or null' if self.optional else ''}, got {shown(value)}"


def _is_number(value: Any, kind: str) -> bool:
    """Say whether a value is a number of this kind, and neither true nor infinite."""
    types = (int,) if kind == "int" else (int, float)
    return type(value) in types and math.isfinite(value)


def _holds(value: float, key: str, bound: float) -> bool:
    return {"gt": value > bound, "ge": value >= bound, "lt": value < bound, "le": value <= bound}[
        key
    ]


@cache
def choice_names(axis: str) -> tuple[str, ...]:
    """List the choices of one axis, e.g. choice_names("span") == ("adaptive", "dynamic", "fixed",
    "full").
    """
    return tuple(
        path.stem
        for path in list_folder(ATTENTION / AXES[axis], ".py")
        if not path.stem.startswith("_")
    )


@cache
def choice_settings(axis: str, name: str) -> dict[str, Setting]:
    """Read the settings of one choice; `ConfigError` where an annotation does not say what one
    is.
    """
    for node in _class_of(axis, name).body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            path, known = _path_of(axis, name), [arg.arg for arg in node.args.kwonlyargs]
            return {arg.arg: _read_setting(arg, value, path, known) for arg, value in pairs}
    return {}


def _read_setting(
    argument: ast.arg, default: ast.expr | None, path: Path, known: list[str]
) -> Setting:
    """Read `name: Annotated[int, Range(ge=1)] = 8`. `int | None` takes null; what has no annotation
    is any number.
    """
    where, annotation, ranges = (
        f"{path}, line {argument.lineno}: {argument.arg}",
        argument.annotation,
        [],
    )
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith(
        "Annotated"
    ):
        annotation, *ranges = getattr(annotation.slice, "elts", [annotation.slice])
    types = ast.unparse(annotation).split(" | ") if annotation else ["float"]
    kinds = [each for each in types if each != "None"]
    if len(kinds) != 1 or kinds[0] not in KINDS:
        raise ConfigError(f"{where} needs a type: int or float, with `| None` if it is optional")
    try:
        value = REQUIRED if default is None else ast.literal_eval(default)
        return Setting(
            value, kinds[0], "None" in types, _read_bounds(ranges, {*known} - {argument.arg})
        )
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(
            f"{where}: expected a range such as Range(ge=1), and a numeric default"
        ) from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _read_bounds(ranges: list[ast.expr], others: set[str]) -> dict[str, float | str]:
    """Read the arguments of `Range(...)`; ValueError or AttributeError where there is something
    else.
    """
    bounds = {}
    for node in ranges:
        if node.func.id != "Range" or node.args:
            raise ValueError(node)
        for word in node.keywords:
            check_known("bound of a range", word.arg, BOUNDS)
            bounds[word.arg] = bound = ast.literal_eval(word.value)
            if isinstance(bound, str):
                check_known("setting in a range", bound, others)
            elif type(bound) not in (int, float):
                raise ValueError(bound)
    return bounds


@cache
def from_grid(axis: str, name: str) -> dict[str, str]:
    """Read which settings of one choice a question's grid gives, e.g. {"limit": "S"}: its class
    names them.
    """
    return assigned(_class_of(axis, name), "from_grid", {})


@cache
def backend_names() -> tuple[str, ...]:
    """List the names of the code that computes attention, the definition and `auto` among them."""
    return assigned(parse_python(ATTENTION / "engine" / "backend.py"), "BACKENDS", ())


def assigned(source: ast.Module | ast.ClassDef, name: str, missing):
    """Read the literal that is assigned to a name; `missing` where none is."""
    for node in source.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [
            name
        ]:
            with suppress(ValueError):
                return ast.literal_eval(node.value)
    return missing


@cache
def _class_of(axis: str, name: str) -> ast.ClassDef:
    check_known(axis, name, choice_names(axis))
    path = _path_of(axis, name)
    body = parse_python(path).body
    public = [
        node for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    if len(public) != 1:
        raise ConfigError(f"{path}: expected one class without a leading _, got {len(public)}")
    return public[0]


def _path_of(axis: str, name: str) -> Path:
    return ATTENTION / AXES[axis] / f"{name}.py"


def check_settings(axis: str, choice: dict) -> None:
    """Raise `ConfigError` for a setting outside its range. choice: its name and settings, of which
    others are let be.

    A record may name a choice, or a setting, that is here no more.
    """
    if choice.get("name") not in choice_names(axis):
        return
    for key, setting in choice_settings(axis, choice["name"]).items():
        symbol = from_grid(axis, choice["name"]).get(key, key)
        if key in choice and (
            wrong := setting.refusal(
                key if symbol == key else f"{key} {symbol}", choice[key], choice
            )
        ):
            raise ConfigError(wrong)


def complete_choice(axis: str, choice: str | dict, defaults: dict[str, dict], grid: dict) -> dict:
    """Spell out all settings of one choice.

    choice: a name, or a mapping with `name` and settings. defaults: settings of the scale by name
    of the choice. grid: S and k, None where there is none, for the settings that the choice's
    `from_grid` names. What a variant says itself wins over the grid, and the grid over the scale.
    """
    if choice is None:
        raise ConfigError(f"{axis} is missing; valid: {', '.join(choice_names(axis))}")
    if not isinstance(choice, str | dict):
        raise ConfigError(
            f"{axis} must be a name, or a mapping with a name and settings, got {shown(choice)}"
        )
    settings = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = settings.pop("name", None)
    if name is None:
        raise ConfigError(
            f"{axis} = {shown(choice)}: 'name' is missing; valid: {', '.join(choice_names(axis))}"
        )
    known = choice_settings(axis, str(name))
    for key in settings:
        check_known(f"setting of {axis} '{name}'", key, known)
    from_question = {
        key: grid[source]
        for key, source in from_grid(axis, name).items()
        if grid.get(source) is not None
    }
    own = {key: setting.default for key, setting in known.items()}
    filled = {**own, **defaults.get(name, {}), **from_question, **settings}
    missing = [key for key, value in filled.items() if value is REQUIRED]
    if missing:
        asked = from_grid(axis, name).get(missing[0])
        of_grid = f": {asked} of the variant or of the grid" if asked else ""
        raise ConfigError(f"{axis} '{name}' needs a value for '{missing[0]}'{of_grid}")
    try:
        check_settings(axis, {"name": name, **filled})
    except ConfigError as error:
        raise ConfigError(f"{axis} '{name}': {error}") from None
    return {"name": name, **filled}


class AttentionChoices(FrozenModel):
    """One choice per axis, with every setting of it spelled out."""

    span: dict[str, Any]
    selection: dict[str, Any]
    normaliser: dict[str, Any]
    position: dict[str, Any]

    @model_validator(mode="after")
    def in_range(self):
        for axis in AXES:
            check_settings(axis, getattr(self, axis))
        return self
