"""Which texts there are, from config/tasks/char_lm.yaml. Knows their checksums without reading them."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from workflow.choices import Refused, refuse_unknown
from workflow.closed import Closed
from workflow.corpora.names import Names

USERS = "file:"
PACKED = (b"\x1f\x8b", b"PK\x03\x04")
Checksum = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")]


class Source(Closed):
    """Where a text is looked for, and what its plain content must be; no checksum: whatever is found."""

    bytes: PositiveInt | None = None
    checksum: Checksum | None = None
    files: list[str] = []
    urls: list[str] = []


class Entry(Source):
    """One text. `checksum` is `sha256:...` or `md5:...` of the plain content.

    embedded: made from what is installed. file: looked for under `files`, then fetched from `urls`;
    `prefix_of` names an official text whose first `bytes` bytes it is.
    """

    kind: Literal["embedded", "file"]
    about: str
    unit: Literal["byte", "character"]
    bytes: PositiveInt
    checksum: Checksum
    prefix_of: str | None = None
    split: list[PositiveInt] | None = Field(None, min_length=3, max_length=3)  # None: 90, 5 and 5 %

    @model_validator(mode="after")
    def split_adds_up(self):
        if self.split and sum(self.split) != self.bytes:
            raise ValueError(f"split adds up to {sum(self.split):,}, the text has {self.bytes:,} bytes")
        return self


class Catalogue(Names):
    form: ClassVar[str] = f"{USERS}PATH"
    corpora: dict[str, Entry]

    @model_validator(mode="after")
    def prefixes_of_known_texts(self):
        for entry in self.corpora.values():
            if entry.prefix_of:
                refuse_unknown("data set", entry.prefix_of, self.corpora)
        return self

    @property
    def named(self) -> dict[str, Entry]:
        return self.corpora

    def of_user(self, name: str) -> Entry:
        return _entry_of_file(name)

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        return self.entry(name).checksum


def path_of(name: str) -> Path:
    """PATH of `file:PATH`; a relative one is meant from the folder the suite is started in."""
    return Path(name.removeprefix(USERS)).expanduser()


def _entry_of_file(name: str) -> Entry:
    checksum, size = users_file(f"corpus '{name}'", path_of(name))
    about = f"{path_of(name).name}, a file of the user's; our own split 90/5/5"
    return Entry(kind="file", about=about, unit="byte", bytes=size, checksum=checksum)


def users_file(what: str, path: Path) -> tuple[str, int]:
    """Checksum and size of a user's file as it is now; `what` begins the line where it is no text."""
    if not path.is_file():
        raise Refused(f"{what}: no such file")
    state = path.stat()
    if state.st_size == 0:
        raise Refused(f"{what}: the file is empty")
    with open(path, "rb") as file:
        if file.read(4).startswith(PACKED):
            raise Refused(f"{what} is an archive; unpack it first, a corpus is plain text")
    return _digest(path, state.st_mtime_ns, state.st_size), state.st_size


@cache
def _digest(path: Path, changed: int, size: int) -> str:
    """Read once for each state of the file: a plan asks for the checksum once per variant."""
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def verify(content: bytes, entry: Source, what: str, hint: str) -> None:
    """`Refused` with the expected and the found checksum unless `content` is the entry's text."""
    if entry.checksum is None:
        return
    kind, expected = entry.checksum.split(":")
    found = hashlib.new(kind, content).hexdigest()
    if found != expected:
        size = f" ({len(content):,} bytes, expected {entry.bytes:,})" if entry.bytes not in (None, len(content)) else ""
        raise Refused(f"{what}: {kind} {found}{size}, expected {expected}; {hint}")
