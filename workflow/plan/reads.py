"""Find what a table or figure reads, as its file says in `READS`, without importing it.

READS = ("runs", "flops", "throughput"): the runs of its question, with these costs. READS = ():
formulas alone. "maps" stands for the attention that the record of one seed keeps. A table's `build`
and a figure's `data` take a frame for the runs, if they are named, and one for each other thing
that is measured of no run.
"""

import ast
from functools import cache
from pathlib import Path

from workflow.claims.schema import costs_claimed
from workflow.config.choices import literals
from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import parse_python
from workflow.config.studies import shown_path, study_file
from workflow.results.registry import COSTS, OF_TEXTS
from workflow.settings.questions import load_question

MAPS = "maps"
# what READS may name and a builder is then given, in this order
FRAMES = ("runs", "layers", *OF_TEXTS)
HOLDS = {"tables": {"TITLE", "CAPTION", "build"}, "figures": {"TITLE", "CAPTION", "data", "draw"}}
TAKES = {"tables": "build", "figures": "data"}  # the function that is given what READS names
READABLE = (*FRAMES, MAPS, *COSTS)


def reads(kind: str, name: str) -> tuple[str, ...]:
    """Return a file's `READS`; `ConfigError` if it has none or names what cannot be read. kind:
    tables | figures.
    """
    path = study_file(kind, name)
    return _reads_of(kind, path, parse_python(path))


@cache
def _reads_of(kind: str, path: Path, module: ast.Module) -> tuple[str, ...]:
    """Check what a module holds and read its `READS`, once for each content of its file."""
    _check_holds(path, module, HOLDS[kind])
    wanted = literals(module).get("READS")
    if not isinstance(wanted, tuple | list):
        raise ConfigError(
            f"{shown_path(path)}: does not say what it reads; "
            'expected a line like READS = ("runs",)'
        )
    for each in wanted:
        check_known(f"entry of READS in {shown_path(path)}", each, READABLE)
    given = [frame for frame in FRAMES if frame in wanted]
    if kind == "figures":
        _check_parameters(path, module, "draw", ["data"])
    if kind == "figures" and "runs" in wanted:
        _check_holds(path, module, HOLDS[kind] | {"used"})
        _check_parameters(path, module, "used", ["runs"])
    _check_parameters(path, module, TAKES[kind], given)
    return tuple(wanted)


def _check_holds(path: Path, module: ast.Module, needed: set[str]) -> None:
    """Raise `ConfigError` where a module lacks one of these names."""
    lacking = sorted(needed - names_in(module))
    if lacking:
        raise ConfigError(
            f"{shown_path(path)}: '{lacking[0]}' is missing; it needs {', '.join(sorted(needed))}"
        )


def _check_parameters(path: Path, module: ast.Module, name: str, given: list[str]) -> None:
    """Raise `ConfigError` unless a function of a module can be called with what it is given, in
    this order.

    A function that the module imports is not looked at.
    """
    function = None
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            # the last one counts
            function = node
    if function is None or function.args.vararg:
        return
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    taken = [arg.arg for arg in positional]
    required = len(taken) - len(arguments.defaults)
    named_only = []
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is None:
            named_only.append(arg.arg)
    is_enough = required <= len(given) <= len(taken)
    are_alike = set(taken) == set(given)
    is_swapped = are_alike and taken != given
    if named_only or is_swapped or not is_enough:
        has = ", ".join([*taken, *named_only])
        wanted = ", ".join(given)
        where = f"{shown_path(path)}, line {function.lineno}"
        says = f"{name}({has}) must take ({wanted})"
        raise ConfigError(f"{where}: {says}, as READS says")


def names_in(module: ast.Module) -> set[str]:
    """Collect the names that a module's own lines define, assign or import."""
    names = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for each in node.names:
                names.add(each.asname or each.name)
        else:
            for each in ast.walk(node):
                is_assigned = isinstance(getattr(each, "ctx", None), ast.Store)
                if is_assigned and isinstance(each, ast.Name):
                    names.add(each.id)
    return names


def costs_shown(question: str) -> list[str]:
    """List the costs on a question's page.

    All of them, but the longest span only where a table or claim of it reads that.
    """
    read = set(costs_claimed(question))
    for name in load_question(question).tables:
        read.update(reads("tables", name))
    if "longest_span" in read:
        return list(COSTS)
    return [kind for kind in COSTS if kind != "longest_span"]
