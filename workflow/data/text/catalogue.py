"""Which texts there are, from config/tasks/char_lm.yaml. Knows their checksums without reading them."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from workflow.config.errors import check_known
from workflow.data.sources.catalogue import Names
from workflow.data.sources.checksums import users_file
from workflow.data.sources.source import Checksum, Source

USERS = "file:"


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
                check_known("data set", entry.prefix_of, self.corpora)
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
