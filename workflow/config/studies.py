"""A study, a paper or your own questions, is a folder studies/NAME/, and nothing elsewhere
names it.

study.yaml says its title, its authors and what the paper prints; questions/ and claims/ hold YAML,
tables/ and figures/ Python, formulas.py the paper's formulas. Folders that the config names come
first, then those of the folder the suite is run in, then the suite's own: where two have the same
file of a study, the first counts.
"""

import json
import os
import re
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType

from workflow.config.errors import ConfigError, check_known
from workflow.config.files import ROOT, list_folder, refuse_unread, shown_path, user_path

# the folders that the config names, as JSON, for all processes of a workflow
NAMED = "ATTENTION_STUDIES"
KINDS = {"questions": "yaml", "claims": "yaml", "tables": "py", "figures": "py"}
PLACES = (
    "study.yaml",
    "formulas.py",
    "battery.yaml",
    "questions/*.yaml",
    "claims/*.yaml",
    "tables/*.py",
    "figures/*.py",
)
WORDS = {"questions": "question", "claims": "claim", "tables": "table", "figures": "figure"}


def read_also(folders: list[str]) -> None:
    """Read the studies in these folders from now on, here and in the processes that this one
    starts.

    `ConfigError` for a folder that is no study.
    """
    paths = []
    for folder in folders:
        path = user_path(folder, f"studies '{folder}'")
        paths.append(Path(os.path.abspath(path)))
    for path in paths:
        if not (path / "study.yaml").is_file():
            raise ConfigError(f"studies: {path}: expected a folder with a study.yaml")
    names = {path.name for path in paths}
    if len(names) < len(paths):
        raise ConfigError(
            f"studies: {', '.join(folders)}: two studies have the same name; rename one"
        )
    if paths:
        named = [str(path) for path in paths]
        os.environ[NAMED] = json.dumps(named)


def known_studies() -> list[str]:
    """Name the studies, in order."""
    return list(_folders_in(*_bases()))


def study_files(kind: str) -> dict[str, tuple[str, Path]]:
    """Find every question, claim, table or figure, one of `KINDS`: its study and its file by its
    name.

    Files whose name starts with _ are left out. `ConfigError` for a name that cannot be asked for,
    or that two studies have.
    """
    return _files(kind, *_bases())


def study_file(kind: str, name: str) -> Path:
    """Find the file of a question, claim, table or figure; `ConfigError` with the nearest name
    where there is none.
    """
    check_known(WORDS[kind], name, study_files(kind))
    return study_files(kind)[name][1]


def part_of(study: str, name: str) -> Path | None:
    """Find a file of a study, such as study.yaml; None where it has none."""
    for folder in _folders_in(*_bases())[study]:
        if (folder / name).is_file():
            return folder / name
    return None


def module_file(name: str) -> Path | None:
    """Find the file of a module `studies.NAME...`; None where there is none."""
    _, *parts = name.split(".")
    place = Path(*parts).with_suffix(".py")
    for home in _homes():
        path = home / place
        if path.is_file():
            return path
    return None


def load_module(path: Path) -> ModuleType:
    """Import the Python file of a study as `studies.NAME...`, so that it can import
    its neighbours.
    """
    import_module("studies").__path__[:] = map(str, _homes())
    home = next(home for home in _homes() if path.is_relative_to(home))
    parts = path.relative_to(home).with_suffix("").parts
    return import_module(".".join(["studies", *parts]))


def _bases() -> tuple[tuple[Path, ...], Path]:
    """Return what decides which studies there are: the folders that are named, and where the suite
    is run.
    """
    named = json.loads(os.environ.get(NAMED) or "[]")
    return tuple(map(Path, named)), Path.cwd()


def _homes() -> list[Path]:
    """List the folders that hold studies, those that count first in front."""
    named, here = _bases()
    homes = [folder.parent for folder in named]
    homes += [here / "studies", ROOT / "studies"]
    return list(dict.fromkeys(homes))


@cache
def _folders_in(named: tuple[Path, ...], here: Path) -> dict[str, list[Path]]:
    """Find the folders of each study, those that count first in front."""
    homes = (here / "studies", ROOT / "studies")
    for home in homes:
        refuse_unread(home, *(f"[a-z]*/{place}" for place in PLACES))
    # what else lies in that folder is its owner's
    for folder, (kind, ending) in product(named, KINDS.items()):
        refuse_unread(folder / kind, f"*.{ending}")
    found: dict[str, list[Path]] = {}
    inside = []
    for home in homes:
        for path in list_folder(home):
            if path.is_dir() and re.match("[a-z]", path.name):
                inside.append(path)
    for folder in dict.fromkeys([*named, *inside]):
        found.setdefault(folder.name, []).append(folder)
    for folders in found.values():
        _check_name(folders[0], folders[0].name)
        if not any((folder / "study.yaml").is_file() for folder in folders):
            raise ConfigError(f"{shown_path(folders[0])}: expected a study.yaml with its title")
    return dict(sorted(found.items()))


@cache
def _files(kind: str, named: tuple[Path, ...], here: Path) -> dict[str, tuple[str, Path]]:
    files: dict[str, tuple[str, Path]] = {}
    ending = f".{KINDS[kind]}"
    for study, folders in _folders_in(named, here).items():
        paths = []
        for folder in folders:
            paths += list_folder(folder / kind, ending)
        for path in paths:
            if path.name.startswith("_"):
                continue
            _check_name(path, path.stem)
            other, first = files.setdefault(path.stem, (study, path))
            if other != study:
                raise ConfigError(
                    f"{shown_path(path)}: {shown_path(first)} has this name already; choose another"
                )
    return dict(sorted(files.items()))


def _check_name(path: Path, name: str) -> None:
    """Refuse a name that cannot be a rule of the workflow, a word of a command and a part of files'
    names.
    """
    if not re.fullmatch(r"\w[\w-]{0,99}", name):
        raise ConfigError(
            f"{shown_path(path)}: expected a name of at most 100 letters, digits, _ and -"
        )
