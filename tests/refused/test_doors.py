"""Every kind of bad input ends in one line, not with 0, and leaves nothing behind."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.refused._kind import Kind, refused

DOORS = sorted(path.stem for path in (Path(__file__).parent / "doors").glob("*.py") if path.stem != "__init__")
KINDS = {
    f"{door}: {name}": kind
    for door in DOORS
    for name, kind in import_module(f"{__package__}.doors.{door}").KINDS.items()
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_bad_input_ends_in_one_line(kind: Kind, tmp_path, monkeypatch, capsys):
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)


def test_there_are_so_many_kinds():
    assert len(KINDS) >= 400
    inputs = {(kind.command, kind.says, repr(kind.files), kind.make, repr(kind.environment)) for kind in KINDS.values()}
    assert len(inputs) == len(KINDS)
