"""What can be chosen on each axis of attention, read from the source without importing torch.

A choice is one file under `models/attention/<axis>/`. Its name is the file's name; its settings are
the keyword-only arguments of its class. So a dry run knows every name and every setting, and the
file of maths stays the only place that states them.
"""

import ast
from difflib import get_close_matches
from functools import cache
from pathlib import Path

ATTENTION = Path(__file__).parent.parent / "models" / "attention"
AXES = {"span": "spans", "selection": "selections", "normaliser": "normalisers", "position": "positions"}
REQUIRED = object()


class Refused(Exception):
    """Bad input: one line that names the key, the value and what would be valid.

    Not a ValueError, which pydantic would wrap into several lines of its own.
    """


def refuse_unknown(what: str, value: str, valid) -> None:
    """Raise `Refused` unless `value` is one of `valid`; the line carries the nearest valid name."""
    value, valid = str(value), sorted(map(str, valid))
    if value in valid:
        return
    lowered = {one.lower(): one for one in valid}
    near = get_close_matches(value.lower(), lowered, n=1, cutoff=0.4)
    hint = f"did you mean '{lowered[near[0]]}'? " if near else ""
    raise Refused(f"unknown {what} '{value}': {hint}valid: {', '.join(valid)}")


@cache
def names(axis: str) -> tuple[str, ...]:
    """The choices of one axis, e.g. names("span") == ("adaptive", "dynamic", "fixed", "full")."""
    folder = ATTENTION / AXES[axis]
    return tuple(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))


@cache
def settings(axis: str, name: str) -> dict:
    """The settings of one choice with their defaults; `REQUIRED` marks one without a default."""
    refuse_unknown(axis, name, names(axis))
    tree = ast.parse((ATTENTION / AXES[axis] / f"{name}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return {arg.arg: REQUIRED if value is None else ast.literal_eval(value) for arg, value in pairs}
    return {}


@cache
def every_setting() -> frozenset[str]:
    """The settings that any choice of any axis takes."""
    return frozenset(key for axis in AXES for name in names(axis) for key in settings(axis, name))


def fill(axis: str, choice: str | dict, offered: dict) -> dict:
    """One choice with all its settings spelled out.

    `choice` is a name, or a mapping with `name` and settings; `offered` are values of the rung and of
    the grid, used where the choice takes them. Explicit settings win over offered ones.
    """
    if choice is None:
        raise Refused(f"no {axis} is named; valid: {', '.join(names(axis))}")
    if not isinstance(choice, str | dict):
        raise Refused(f"{axis} must be a name, or a mapping with a name and settings, got {choice!r}")
    given = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = given.pop("name", None)
    takes = settings(axis, str(name))
    for key in given:
        refuse_unknown(f"setting of {axis} '{name}'", key, takes)
    filled = {**takes, **{key: offered[key] for key in takes if key in offered}, **given}
    missing = [key for key, value in filled.items() if value is REQUIRED]
    if missing:
        raise Refused(f"{axis} '{name}' needs a value for '{missing[0]}'")
    for key, value in filled.items():
        left_out = value is None and takes[key] is None
        if not left_out and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise Refused(f"{axis} '{name}': {key} must be a number, got {value!r}")
    return {"name": name, **filled}
