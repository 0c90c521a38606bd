"""Find the files of the suite that a number depends on, and digest them.

Read from the imports, without importing anything: what an entry point imports, what that imports,
and so on. Alternatives (choices of attention, nets, tasks, tables, figures) count only where a job
or a target names them: their registries are not followed. So a changed line in one choice of
attention makes the runs that use it out of date, and no others.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from workflow.config.choices import AXES
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT, is_left_behind
from workflow.config.job import Job
from workflow.config.strict import parse_python
from workflow.config.studies import module_file
from workflow.tasks.spec import TASKS

# folders whose files a job or target names
ALTERNATIVES = (*AXES.values(), "nets", *TASKS, "tables", "figures")
# they name alternatives, and are neither followed nor counted
REGISTRIES = ("__init__.py", "spec.py")
NUMBERS = ("models", "workflow/training", "workflow/tasks", "workflow/costs")
BUILDER = "models/kernels/compiled/build.py"  # compiles the C next to it
REPORT = (
    "workflow/report",
    "workflow/cards",
    "workflow/claims",
    "workflow/cards",
    "workflow/results",
    "workflow/tasks/formula.py",
    "studies",
)
DIGITS = 12


@cache
def file_digest(path: Path) -> str:
    """Digest the bytes of a file as it is now."""
    content = hashlib.sha256(path.read_bytes())
    return content.hexdigest()[:DIGITS]


def digests(files: Iterable[str]) -> dict[str, str]:
    """Digest each file as it is now."""
    return {file: file_digest(ROOT / file) for file in sorted(files)}


@cache
def digest(files: frozenset[str]) -> str:
    """Digest all of them together, as they are now: 12 hexadecimal digits."""
    content = hashlib.sha256()
    for file, each in digests(files).items():
        line = f"{file} {each}\n"
        content.update(line.encode())
    return content.hexdigest()[:DIGITS]


def recorded(files: Iterable[str]) -> dict:
    """Return what an origin keeps of its files: `source`, the digest of all; `sources`, the digest
    of each.
    """
    files = frozenset(files)
    return {"source": digest(files), "sources": digests(files)}


@cache
def imports(file: str) -> tuple[str, ...]:
    """List the files of the suite that a file imports anywhere, and the C next to one that builds
    it.
    """
    files: list[str] = []
    if file == BUILDER:
        folder = Path(file).parent
        files += sorted(files_under(f"{folder}/*.[ch]"))
    if file.endswith(".py"):
        for node in statements(parse_python(ROOT / file)):
            for module in _modules_in(node, file):
                files += _files_of_module(module)
    return tuple(dict.fromkeys(files))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Give all statements of a file, at any depth, without going into their expressions."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, field, ()):
            yield node
            yield from statements(node)


def _modules_in(node: ast.AST, file: str) -> list[str]:
    """Name the modules that an import of a file may mean; none of any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    parts = []
    if node.level:
        # of a relative import, the package that it starts from
        parts += Path(file).parts[: -node.level]
    if node.module:
        parts.append(node.module)
    module = ".".join(parts)
    # each name may be a module itself
    inside = [f"{module}.{alias.name}" for alias in node.names]
    return [module, *inside]


def _files_of_module(module: str) -> list[str]:
    """Find the files of the suite that hold a module; none of another package."""
    room = module.split(".")[0]
    if room == "studies":
        path = module_file(module) if "." in module else None
        return [file_in_suite(path)] if path else []
    if room not in ("models", "workflow"):
        return []
    place = ROOT / module.replace(".", "/")
    files = []
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            files.append(path.relative_to(ROOT).as_posix())
    return files


def is_alternative(file: str) -> bool:
    path = Path(file)
    if file.startswith("workflow/report/"):  # what the studies' tables and figures share
        return False
    is_private = path.name.startswith("_")
    return path.parent.name in ALTERNATIVES and not is_private


@cache
def closure(*entries: str, rooms: tuple[str, ...]) -> frozenset[str]:
    """Collect the entries and all that they import, directly or not, within these rooms.

    An alternative is followed from a file of its own folder alone.
    """
    followed = set()
    waiting = list(entries)
    while waiting:
        file = waiting.pop()
        if file in followed:
            continue
        followed.add(file)
        for other in imports(file):
            is_registry = Path(other).name in REGISTRIES
            if is_registry or not other.startswith(rooms):
                continue
            is_neighbour = Path(other).parent == Path(file).parent
            if is_alternative(other) and not is_neighbour:
                continue
            waiting.append(other)
    return frozenset(followed)


def file_in_suite(path: Path) -> str:
    """Name a file from the suite's folder, by its whole path where it lies elsewhere."""
    if path.is_relative_to(ROOT):
        path = path.relative_to(ROOT)
    return path.as_posix()


def file_of(dotted: str) -> str:
    """Find the file of what a task names: "package.module" or "package.module:attribute"."""
    module = dotted.partition(":")[0]
    return f"{module.replace('.', '/')}.py"


def _named_by(job: Job) -> list[str]:
    """List the alternatives that a job names: the choices, a net, a task."""
    files = []
    for axis, folder in AXES.items():
        choice = getattr(job.attention, axis)["name"]
        files.append(f"models/attention/{folder}/{choice}.py")
    files.append(f"models/nets/{job.net.name}.py")
    files.append(file_of(TASKS[job.task].runner))
    for file in files:
        if not (ROOT / file).is_file():
            raise ConfigError(f"{file}: no such file, but a job of task {job.task} needs it")
    return files


def of_script(name: str, job: Job | None = None) -> frozenset[str]:
    """Collect what a script that computes numbers depends on, for a job where it is about one."""
    entry = f"workflow/scripts/{name}.py"
    named = _named_by(job) if job else []
    if job and name != "train":  # what measures a net of this task is loaded by name too
        named.append(file_of(TASKS[job.task].costs))
    return closure(entry, *named, rooms=(*NUMBERS, entry))


def of_run(job: Job) -> frozenset[str]:
    """Collect what a run's numbers depend on: models, task, loop, and how its dataset is read."""
    return of_script("train", job)


def of_report(script: str, *entries: str) -> frozenset[str]:
    """Collect what a table, figure, claim or page depends on besides its data."""
    rooms = (*REPORT, "workflow/scripts", "/")  # a study elsewhere is named by its whole path
    return closure(f"workflow/scripts/{script}.py", *entries, rooms=rooms)


@cache
def files_under(*patterns: str) -> frozenset[str]:
    """List the files of the suite that match."""
    files = set()
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            if path.is_file() and not is_left_behind(path.name):
                files.add(path.relative_to(ROOT).as_posix())
    return frozenset(files)
