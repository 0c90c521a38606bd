"""Know what can be chosen on each axis of attention, without importing torch.

A choice is one file in one of the five folders of `models/attention/`, and its one class without a
leading _. Its name is the file's name. What it declares is read from its source: settings are the
keyword-only arguments of `__init__`, their ranges in the annotations; facts and what a grid fills
in are literals in the class. So a dry run knows every name, setting, range and fact, and the file
of maths stays the only place that states them.
"""

import ast
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from workflow.config.errors import ConfigError, check_known, shown
from workflow.config.files import list_folder
from workflow.config.strict import FrozenModel, parse_python

ATTENTION = Path(__file__).parents[2] / "models" / "attention"
AXES = {  # axis -> folder
    "span": "spans",
    "selection": "selections",
    "normaliser": "normalisers",
    "position": "positions",
    "score_scale": "score_scales",
}
REQUIRED = object()
# of `models.attention.choice.Range`
BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
# what a setting may be, by the name of its type
KINDS = {"int": "a whole number", "float": "a number", "Literal": "a word"}


@dataclass(frozen=True)
class Setting:
    """A setting of a choice.

    default: `REQUIRED` where it has none. kind: of `KINDS`. optional: whether null is valid.
    bounds: by the keywords of `BOUNDS`, numbers or names of other settings of the choice. words:
    those that it may be, where it is no number.
    """

    default: Any
    kind: str
    optional: bool
    bounds: dict[str, float | str]
    words: tuple[str, ...] = ()

    def refusal(self, name: str, value: Any, others: dict[str, Any]) -> str | None:
        """Say why a value is not valid, and what would be; None where it is.

        others: the choice's other settings, as far as they are known.
        """
        if value is None and self.optional:
            return None
        if self.words:
            valid = ", ".join(self.words)
            return None if value in self.words else f"{name} must be one of {valid}, got {value!r}"
        is_valid = _is_number(value, self.kind)
        said = []
        for key, bound in self.bounds.items():
            is_a_setting = isinstance(bound, str)
            limit = others.get(bound) if is_a_setting else bound
            if not _is_number(limit, "float"):
                continue  # the other setting is refused itself
            is_valid = is_valid and _holds(value, key, limit)
            named = f"{bound} = " if is_a_setting else ""
            said.append(f"{BOUNDS[key]} {named}{limit:g}")
        if is_valid:
            return None
        valid = KINDS[self.kind]
        bounds = " and ".join(said)
        if bounds.startswith("at"):
            valid += " of"
        if bounds:
            valid += f" {bounds}"
        if self.optional:
            valid += ", or null"
        return f"{name} must be {valid}, got {shown(value)}"


def _is_number(value: Any, kind: str) -> bool:
    """Say whether a value is a number of this kind, and neither true nor infinite."""
    types = (int,) if kind == "int" else (int, float)
    return type(value) in types and math.isfinite(value)


def _holds(value: float, key: str, bound: float) -> bool:
    if key == "gt":
        return value > bound
    if key == "ge":
        return value >= bound
    if key == "lt":
        return value < bound
    return value <= bound


@dataclass(frozen=True)
class Fact:
    """A fact that choices report of a trained model.

    name: its key in a record. by_head: whether it is a number for each head of each layer, or one.
    """

    name: str
    title: str
    unit: str
    by_head: bool


@cache
def choice_names(axis: str) -> tuple[str, ...]:
    """List the choices of one axis: choice_names("position") == ("alibi", "none", ..)."""
    names = []
    for path in list_folder(ATTENTION / AXES[axis], ".py"):
        if not path.name.startswith("_"):
            names.append(path.stem)
    return tuple(names)


def choice_settings(axis: str, name: str) -> dict[str, Setting]:
    """Read the settings of one choice.

    `ConfigError` where an annotation does not say what a setting is.
    """
    return _declared(axis, name).settings


def from_grid(axis: str, name: str) -> dict[str, str]:
    """Read which settings of one choice a question's grid gives, e.g. {"limit": "S"}."""
    return _declared(axis, name).literals.get("from_grid", {})


@cache
def follows_input(span: str) -> bool:
    """Say whether a span computes how far it sees from the input, as its class declares."""
    return _declared("span", span).literals.get("follows_input", False)


def has_kernel(axis: str, name: str) -> bool:
    """Say whether compiled code knows a choice, as its class declares.

    It knows every position, which is keys to it, and every scale of queries, but not one of scores.
    """
    declared = _declared(axis, name)
    if axis == "position":
        return True
    if axis == "score_scale":
        return "of_scores" not in declared.methods
    return declared.literals.get("kernel") is not None


def has_library(normaliser: str) -> bool:
    """Say whether another library computes a normaliser too, as its class declares."""
    return _declared("normaliser", normaliser).literals.get("library") is not None


@cache
def choice_facts() -> tuple[Fact, ...]:
    """List the facts that choices of any axis declare, those that an axis's choices share first."""
    facts: dict[str, Fact] = {}
    for folder in AXES.values():
        for path in list_folder(ATTENTION / folder, ".py"):
            for declared in _read(path).values():
                for name, fact in _facts(declared.literals):
                    facts.setdefault(name, fact)
    return tuple(facts.values())


def _facts(literals: dict[str, Any]) -> Iterator[tuple[str, Fact]]:
    for key, by_head in (("measures", False), ("measures_by_head", True)):
        for name, (title, unit) in literals.get(key, {}).items():
            yield name, Fact(name, title, unit, by_head)


@cache
def backend_names() -> tuple[str, ...]:
    """List the names of the code that computes attention, the definition and `auto` among them."""
    backends = literals(parse_python(ATTENTION / "engine" / "backend.py"))
    return backends["BACKENDS"]


# The one reader of declarations.


@dataclass(frozen=True)
class Declared:
    """What a class declares: literal attributes, keyword-only arguments of `__init__`, methods."""

    literals: dict[str, Any]
    settings: dict[str, Setting]
    methods: frozenset[str]


@cache
def _declared(axis: str, name: str) -> Declared:
    """Read what a choice declares; `ConfigError` unless its file has one class without a _."""
    check_known(axis, name, choice_names(axis))
    path = ATTENTION / AXES[axis] / f"{name}.py"
    classes = _read(path)
    if len(classes) != 1:
        raise ConfigError(f"{path}: expected one class without a leading _, got {len(classes)}")
    (declared,) = classes.values()
    return declared


def _read(path: Path) -> dict[str, Declared]:
    """Read the declarations of a file's classes without a leading _, by name."""
    classes = {}
    for node in parse_python(path).body:
        is_class = isinstance(node, ast.ClassDef)
        if is_class and not node.name.startswith("_"):
            settings = _read_settings(node, path)
            methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            classes[node.name] = Declared(literals(node), settings, frozenset(methods))
    return classes


def literals(source: ast.Module | ast.ClassDef) -> dict[str, Any]:
    """Read the names to which a module's or a class's own lines assign a literal."""
    found = {}
    for node in source.body:
        name = _assigned(node)
        if name is not None and node.value is not None:
            with suppress(ValueError):
                found[name] = ast.literal_eval(node.value)
    return found


def _assigned(node: ast.stmt) -> str | None:
    """Return the one name to which a line assigns something."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _read_settings(node: ast.ClassDef, path: Path) -> dict[str, Setting]:
    settings = {}
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        arguments = method.args.kwonlyargs
        defaults = method.args.kw_defaults
        known = {argument.arg for argument in arguments}
        for argument, default in zip(arguments, defaults, strict=True):
            settings[argument.arg] = _read_setting(argument, default, path, known)
    return settings


def _read_setting(
    argument: ast.arg, default: ast.expr | None, path: Path, known: set[str]
) -> Setting:
    """Read `name: Annotated[int, Range(ge=1)] = 8`, or `name: Literal["one", "other"] = "one"`.

    `int | None` takes null; what has no annotation is any number.
    """
    where = f"{path}, line {argument.lineno}: {argument.arg}"
    words = _read_words(argument.annotation)
    if words:
        default = REQUIRED if default is None else ast.literal_eval(default)
        return Setting(default, kind="Literal", optional=False, bounds={}, words=words)
    annotation, ranges = _split(argument.annotation)
    types = ast.unparse(annotation).split(" | ") if annotation else ["float"]
    kinds = [each for each in types if each != "None"]
    if len(kinds) != 1 or kinds[0] not in KINDS:
        raise ConfigError(f"{where} needs a type: int or float, with `| None` if it is optional")
    try:
        return Setting(
            default=REQUIRED if default is None else ast.literal_eval(default),
            kind=kinds[0],
            optional="None" in types,
            bounds=_read_bounds(ranges, known - {argument.arg}),
        )
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(
            f"{where}: expected a range such as Range(ge=1), and a numeric default"
        ) from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _read_words(annotation: ast.expr | None) -> tuple[str, ...]:
    """Read the words of `Literal["one", "other"]`; none of another annotation."""
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value) != "Literal":
        return ()
    words = ast.literal_eval(annotation.slice)
    return words if isinstance(words, tuple) else (words,)


def _split(annotation: ast.expr | None) -> tuple[ast.expr | None, list[ast.expr]]:
    """Split `Annotated[int, Range(ge=1)]` into the type and what says more of it."""
    if not isinstance(annotation, ast.Subscript):
        return annotation, []
    if not ast.unparse(annotation.value).endswith("Annotated"):
        return annotation, []
    inside = annotation.slice
    kind, *ranges = getattr(inside, "elts", [inside])
    return kind, ranges


def _read_bounds(ranges: list[ast.expr], others: set[str]) -> dict[str, float | str]:
    """Read the arguments of `Range(...)`.

    ValueError or AttributeError where there is something else.
    """
    bounds = {}
    for node in ranges:
        if node.func.id != "Range" or node.args:
            raise ValueError(node)
        for word in node.keywords:
            check_known("bound of a range", word.arg, BOUNDS)
            bound = ast.literal_eval(word.value)
            if isinstance(bound, str):
                check_known("setting in a range", bound, others)
            elif type(bound) not in (int, float):
                raise ValueError(bound)
            bounds[word.arg] = bound
    return bounds


def check_settings(axis: str, choice: dict) -> None:
    """Raise `ConfigError` for a setting outside its range.

    choice: its name and settings. A record may name a choice, or a setting, that is here no more:
    these are let be.
    """
    name = choice.get("name")
    if name not in choice_names(axis):
        return
    symbols = from_grid(axis, name)
    for key, setting in choice_settings(axis, name).items():
        if key not in choice:
            continue
        symbol = symbols.get(key, key)
        said = key if symbol == key else f"{key} {symbol}"
        refusal = setting.refusal(said, choice[key], choice)
        if refusal:
            raise ConfigError(refusal)


def complete_choice(axis: str, choice: str | dict, defaults: dict[str, dict], grid: dict) -> dict:
    """Spell out all settings of one choice.

    choice: a name, or a mapping with `name` and settings. defaults: settings of the scale by name
    of the choice. grid: S and k, None where there is none, for the settings that the choice's
    `from_grid` names. What a variant says itself wins over the grid, and the grid over the scale.
    """
    name, settings = _named(axis, choice)
    known = choice_settings(axis, name)
    for key in settings:
        check_known(f"setting of {axis} '{name}'", key, known)

    symbols = from_grid(axis, name)
    filled = {"name": name}
    for key, setting in known.items():
        filled[key] = setting.default
    filled.update(defaults.get(name, {}))
    for key, symbol in symbols.items():
        if grid.get(symbol) is not None:
            filled[key] = grid[symbol]
    filled.update(settings)

    for key, value in filled.items():
        if value is REQUIRED:
            symbol = symbols.get(key)
            of_grid = f": {symbol} of the variant or of the grid" if symbol else ""
            raise ConfigError(f"{axis} '{name}' needs a value for '{key}'{of_grid}")
    try:
        check_settings(axis, filled)
    except ConfigError as error:
        raise ConfigError(f"{axis} '{name}': {error}") from None
    return filled


def _named(axis: str, choice: str | dict) -> tuple[str, dict]:
    """Return the name of a choice, and the settings that are given with it."""
    valid = ", ".join(choice_names(axis))
    if choice is None:
        raise ConfigError(f"{axis} is missing; valid: {valid}")
    if isinstance(choice, str):
        return choice, {}
    if not isinstance(choice, dict):
        raise ConfigError(
            f"{axis} must be a name, or a mapping with a name and settings, got {shown(choice)}"
        )
    if choice.get("name") is None:
        raise ConfigError(f"{axis} = {shown(choice)}: 'name' is missing; valid: {valid}")
    settings = {key: value for key, value in choice.items() if key != "name"}
    return str(choice["name"]), settings


UNSCALED = {"name": "none"}


class AttentionChoices(FrozenModel):
    """One choice per axis, with every setting of it spelled out."""

    span: dict[str, Any]
    selection: dict[str, Any]
    normaliser: dict[str, Any]
    position: dict[str, Any]
    # Left out where it does nothing: jobs are known by what they say, and most were written
    # before there was this axis.
    score_scale: Annotated[dict[str, Any], Field(exclude_if=lambda choice: choice == UNSCALED)] = (
        UNSCALED
    )

    @model_validator(mode="after")
    def in_range(self):
        for axis in AXES:
            check_settings(axis, getattr(self, axis))
        return self
