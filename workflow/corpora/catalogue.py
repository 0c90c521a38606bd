"""Which texts there are, from config/tasks/char_lm.yaml. Knows their checksums without reading them."""

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from workflow.choices import Refused, refuse_unknown


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Entry(Closed):
    """One text. `checksum` is `sha256:...` or `md5:...` of the plain content.

    embedded: made from what is installed. file: looked for under `files`, then fetched from `urls`;
    `prefix_of` names an official text whose first `bytes` bytes it is.
    """

    kind: Literal["embedded", "file"]
    about: str
    unit: Literal["byte", "character"]
    bytes: int
    checksum: str
    files: list[str] = []
    urls: list[str] = []
    prefix_of: str | None = None
    split: list[int] | None = None  # characters of train, dev, test; None: 90, 5 and 5 %


class Catalogue(Closed):
    metric: str
    corpora: dict[str, Entry]

    def entry(self, name: str) -> Entry:
        """The entry of a name; `file:PATH` has one too, made from the file as it is now."""
        if name.startswith("file:"):
            path = Path(name.removeprefix("file:")).expanduser()
            if not path.is_file():
                raise Refused(f"corpus '{name}': no such file")
            checksum = f"sha256:{digest(path)}"
            about = f"{path.name}, a file of the user's; our own split 90/5/5"
            return Entry(kind="file", about=about, unit="byte", bytes=path.stat().st_size, checksum=checksum)
        refuse_unknown("data set", name, [*self.corpora, "file:PATH"])
        return self.corpora[name]

    def checksum(self, name: str) -> str:
        """What identifies the text in a job, whichever folder it lies in."""
        return self.entry(name).checksum

    def slug(self, name: str) -> str:
        """A name for results/data/: the corpus' own, or file- and the start of its checksum."""
        return f"file-{self.checksum(name)[7:15]}" if name.startswith("file:") else name


def digest(path: Path, kind: str = "sha256") -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def verify(content: bytes, entry: Entry, what: str, hint: str) -> None:
    """`Refused` with the expected and the found checksum unless `content` is the entry's text."""
    kind, expected = entry.checksum.split(":")
    found = hashlib.new(kind, content).hexdigest()
    if found != expected:
        size = "" if len(content) == entry.bytes else f" ({len(content):,} bytes, expected {entry.bytes:,})"
        raise Refused(f"{what}: {kind} {found}{size}, expected {expected}; {hint}")
