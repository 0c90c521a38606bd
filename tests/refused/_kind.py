"""A kind of bad input, and what must become of it: one line that names what is wrong, and nothing left behind."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from workflow.config.command_line import run
from workflow.papers import published
from workflow.plan import ablations, claims, sources
from workflow.report.claims import schema

READ_ONCE = (ablations.load_ablation, claims._content, schema.load_claim, sources.accepted)
READ_ONCE += (published.papers, published.load, published.load_analytic, published.load_conflicts)


@dataclass(frozen=True)
class Kind:
    """command: of the module under workflow/, with its words, \0 for a blank. says: what must stand in the line.

    files: path -> what lies there before: text, bytes, or anything else as YAML or JSON. make: writes what is no file.
    environment: variables; HERE is the folder.
    """

    command: str
    says: str
    files: dict[str, object] = field(default_factory=dict)
    make: Callable[[Path], object] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    patches: tuple[tuple[object, str, str], ...] = ()  # (module, name, path in the folder)


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write_out = yaml.safe_dump if path.suffix == ".yaml" else json.dumps
        path.write_text(content if isinstance(content, str) else write_out(content), encoding="utf-8")


def contents(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def forget(kind: Kind) -> None:
    """What is read once for each process is read again."""
    for function in READ_ONCE if kind.files or kind.patches else ():
        function.cache_clear()


def refused(kind: Kind, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    """The one line with which a command ends, run as `python -m` runs it, in this process."""
    for place, content in kind.files.items():
        write(folder / place, content)
    if kind.make:
        kind.make(folder)
    monkeypatch.chdir(folder)
    for name, value in kind.environment.items():
        monkeypatch.setenv(name, value.replace("HERE", str(folder)))
    for module, name, place in kind.patches:
        monkeypatch.setattr(module, name, folder / place)
    module, *words = kind.command.split()
    before, words = contents(folder), [word.replace("\0", " ") for word in words]
    monkeypatch.setattr(sys, "argv", [module, *words])
    forget(kind)
    try:
        with pytest.raises(SystemExit) as end:
            run(import_module(f"workflow.{module}").main)
    finally:
        forget(kind)
    line = capsys.readouterr().err
    assert end.value.code in (1, 2), line
    assert line.count("\n") == 1 and line.endswith("\n") and "Traceback" not in line, line
    assert contents(folder) == before, "something was left behind"
    assert len(line) < 2000, line[:2000]
    return line
