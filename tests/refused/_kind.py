"""A mistake, which must end in one line that names it and leave nothing behind."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from workflow.claims import published, schema
from workflow.config import studies
from workflow.config.command_line import run
from workflow.settings import questions

READ_ONCE = (
    studies._folders_in,
    studies._files,
    questions.load_question,
    schema.load_claim,
    published.studies,
    published.load,
    published.formulas,
)


@dataclass(frozen=True)
class Kind:
    """A command, a module under workflow/ with its words, and what its line must say.

    files: by path, what is there before: text, bytes, or anything else as YAML or JSON.
    make: writes more of them.
    """

    command: str
    says: str
    files: dict[str, object] = field(default_factory=dict)
    make: Callable[[Path], object] = lambda folder: None


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        content = yaml.safe_dump(content) if path.suffix == ".yaml" else json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def forget() -> None:
    """Read again what a process reads once."""
    for function in READ_ONCE:
        function.cache_clear()


def refused(kind: Kind, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    """Run a command as `python -m` does, and return the one line that it ends with."""
    for place, content in kind.files.items():
        write(folder / place, content)
    kind.make(folder)
    before = contents(folder)
    module, *words = kind.command.split()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [module, *words])
    forget()
    with pytest.raises(SystemExit) as end:
        run(import_module(f"workflow.{module}").main)
    forget()
    line = capsys.readouterr().err
    assert end.value.code in (1, 2)
    assert line.count("\n") == 1, line
    assert contents(folder) == before, "something was left behind"
    return line
