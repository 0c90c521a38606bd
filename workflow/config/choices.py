"""Know what can be chosen on each axis of attention, read from the source without importing torch.

A choice is one file in one of the four folders of `models/attention/`, and its one class without a leading _. Its name
is the file's name; its settings are the keyword-only arguments of its class. So a dry run knows every name and every
setting, and the file of maths stays the only place that states them.
"""

import ast
from contextlib import suppress
from functools import cache
from itertools import chain
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
OPTIONAL = ("evaluation_cache", "clamp")  # they may be left out
WHOLE = ("limit", "ramp", "first", "k", "cache", *OPTIONAL)  # settings that are whole numbers
SYMBOLS = {"limit": "limit S", "ramp": "ramp R"}  # of the papers


@cache
def choice_names(axis: str) -> tuple[str, ...]:
    """List the choices of one axis, e.g. choice_names("span") == ("adaptive", "dynamic", "fixed", "full")."""
    return tuple(path.stem for path in list_folder(ATTENTION / AXES[axis], ".py") if not path.stem.startswith("_"))


@cache
def choice_settings(axis: str, name: str) -> dict:
    """Read the settings of one choice with their defaults; `REQUIRED` marks one without a default."""
    for node in _class_of(axis, name).body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return {arg.arg: REQUIRED if value is None else ast.literal_eval(value) for arg, value in pairs}
    return {}


@cache
def from_grid(axis: str, name: str) -> dict[str, str]:
    """Read which settings of one choice an ablation's grid gives, e.g. {"limit": "S"}: its class names them."""
    return assigned(_class_of(axis, name), "from_grid", {})


@cache
def backend_names() -> tuple[str, ...]:
    """List the names of the code that computes attention, the definition and `auto` among them."""
    return assigned(parse_python(ATTENTION / "engine" / "backend.py"), "BACKENDS", ())


def assigned(source: ast.Module | ast.ClassDef, name: str, missing):
    """Read the literal that is assigned to a name; `missing` where none is."""
    for node in source.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            with suppress(ValueError):
                return ast.literal_eval(node.value)
    return missing


@cache
def _class_of(axis: str, name: str) -> ast.ClassDef:
    check_known(axis, name, choice_names(axis))
    path = ATTENTION / AXES[axis] / f"{name}.py"
    body = parse_python(path).body
    public = [node for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    if len(public) != 1:
        raise ConfigError(f"{path}: expected one class without a leading _, got {len(public)}")
    return public[0]


def complete_choice(axis: str, choice: str | dict, defaults: dict[str, dict], grid: dict) -> dict:
    """Spell out all settings of one choice.

    choice: a name, or a mapping with `name` and settings. defaults: settings of the scale by name of the choice. grid:
    S and k, None where there is none, for the settings that the choice's `from_grid` names. What a variant says itself
    wins over the grid, and the grid over the scale.
    """
    if choice is None:
        raise ConfigError(f"no {axis} is named; valid: {', '.join(choice_names(axis))}")
    if not isinstance(choice, str | dict):
        raise ConfigError(f"{axis} must be a name, or a mapping with a name and settings, got {shown(choice)}")
    settings = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = settings.pop("name", None)
    if name is None:
        raise ConfigError(f"{axis} = {shown(choice)}: 'name' is missing; valid: {', '.join(choice_names(axis))}")
    known = choice_settings(axis, str(name))
    for key in settings:
        check_known(f"setting of {axis} '{name}'", key, known)
    from_ablation = {key: grid[source] for key, source in from_grid(axis, name).items() if grid.get(source) is not None}
    filled = {**known, **defaults.get(name, {}), **from_ablation, **settings}
    missing = [key for key, value in filled.items() if value is REQUIRED]
    if missing:
        asked = from_grid(axis, name).get(missing[0])
        of_grid = f": {asked} of the variant or of the grid" if asked else ""
        raise ConfigError(f"{axis} '{name}' needs a value for '{missing[0]}'{of_grid}")
    for key, value in filled.items():
        left_out = value is None and known[key] is None
        if not left_out and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ConfigError(f"{axis} '{name}': {key} must be a number, got {shown(value)}")
    return {"name": name, **filled}


class AttentionChoices(FrozenModel):
    """One choice per axis, with every setting of it spelled out."""

    span: dict[str, Any]
    selection: dict[str, Any]
    normaliser: dict[str, Any]
    position: dict[str, Any]

    @model_validator(mode="after")
    def in_range(self):
        for key, value in chain(self.span.items(), self.selection.items(), self.position.items()):
            null = ", or null" if key in OPTIONAL else ""
            if key in WHOLE and not (value is None and null) and (type(value) is not int or value < 1):
                name = SYMBOLS.get(key, key)
                raise ConfigError(f"{name} must be a whole number and at least 1{null}, got {shown(value)}")
            if key == "p" and not (type(value) in (int, float) and 0 < value <= 1):
                raise ConfigError(f"p must be a number above 0 and at most 1, got {shown(value)}")
            if key == "penalty_weight" and (type(value) not in (int, float) or not 0 <= value < float("inf")):
                raise ConfigError(f"penalty_weight must be a number and at least 0, got {shown(value)}")
        if self.span.get("ramp", 1) > self.span.get("limit", float("inf")):
            raise ConfigError(f"ramp R = {self.span['ramp']} must not exceed S = {self.span['limit']}")
        return self
