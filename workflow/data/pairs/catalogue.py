"""Which parallel texts there are, from config/tasks/translation.yaml, and what identifies them in a job."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NoReturn, get_args

from pydantic import Field, PositiveInt, model_validator

from workflow.config.errors import ConfigError
from workflow.config.strict import StrictModel
from workflow.data.sources import checksums as digests
from workflow.data.sources.catalogue import Names
from workflow.data.sources.lookup import look, missing
from workflow.data.sources.source import Checksum, Source

USERS = "pairs:"
USERS_PIECES = 8000
Split = Literal["train", "dev", "test"]
Vocabulary = Annotated[int, Field(strict=True, ge=8, le=1 << 16)]


class Direction(StrictModel):
    """One parallel text, translated one way. source, target: language codes. vocabulary: joint pieces, with the four
    special ones. tokenised: its words and signs already stand apart, as Moses or Stanford's tools write them.
    compounds: tokenised BLEU cuts hyphened words apart, as both papers did on WMT.
    """

    about: str
    source: str
    target: str
    vocabulary: Vocabulary
    lowercase: bool = False
    tokenised: bool = False
    compounds: bool = False

    def identity(self, checksums: list[str]) -> str:
        """Of the texts, and of what else decides ids and scores."""
        said = [self.source, self.target, self.vocabulary, self.lowercase, *checksums]
        said += ["tokenised"] * self.tokenised + ["compounds"] * self.compounds
        return f"sha256:{hashlib.sha256(json.dumps(said).encode()).hexdigest()}"


class Named(Direction):
    """One of the catalogue.

    embedded: made by workflow/data/phrases.py; `checksum` is that of its lines. files: for each split and language
    where the file is looked for; one without a checksum is taken as it is found, and never fetched.
    pairs: how many each split must have.
    """

    kind: Literal["embedded", "files"]
    checksum: Checksum | None = None
    pairs: dict[Split, PositiveInt] = {}
    files: dict[Split, dict[str, Source]] = {}

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        if self.kind == "embedded" and (self.checksum is None or self.files):
            raise ValueError("an embedded text has a checksum and no files")
        if self.kind == "files" and (self.checksum or len(self.files) < 3):
            raise ValueError(
                "kind files takes files for train, dev and test, each with its checksum, and none of its own"
            )
        for split, sides in self.files.items():
            if sorted(sides) != sorted({self.source, self.target}):
                raise ValueError(f"files.{split} must name {self.source} and {self.target}, got {', '.join(sides)}")
            if not all(side.files for side in sides.values()):
                raise ValueError(f"files.{split}: each side takes at least one file name")
        return self

    def parts(self) -> list[Source]:
        """The files of the three splits, source before target."""
        return [self.files[split][side] for split in get_args(Split) for side in (self.source, self.target)]


class PairCatalogue(Names):
    form: ClassVar[str] = f"{USERS}SRC,TGT"
    pairs: dict[str, Named]

    @property
    def named(self) -> dict[str, Named]:
        return self.pairs

    def of_user(self, name: str) -> Direction:
        return _entry_of_users(name)

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """What identifies the pairs in a job: a digest of the texts' checksums, the languages, pieces and case.

        Where a file's checksum is not known, that of the one found in `data_dir` stands in; `ConfigError` without one.
        """
        entry = self.entry(name)
        if name.startswith(USERS):
            return entry.identity(
                [digests.users_file(f"data set '{name}', {path}", path)[0] for path in paths_of(name)]
            )
        if entry.kind == "embedded":
            return entry.identity([entry.checksum])
        return entry.identity([part.checksum or _found(name, part, data_dir) for part in entry.parts()])


def paths_of(name: str) -> list[Path]:
    """SRC and TGT of `pairs:SRC,TGT`; relative ones are meant from the folder the suite is started in."""
    paths = name.removeprefix(USERS).split(",")
    if len(paths) != 2 or not all(paths):
        raise ConfigError(f"data set '{name}': expected two files with a comma between them, pairs:SRC,TGT")
    return [Path(path.strip()).expanduser() for path in paths]


def _entry_of_users(name: str) -> Direction:
    """The languages are what the file names end in, as in my.de and my.en."""
    paths = paths_of(name)
    source, target = (path.suffix.lstrip(".") for path in paths)
    if not source or not target or source == target:
        source, target = "source", "target"
    about = f"{paths[0].name} and {paths[1].name}, files of the user's; our own split 90/5/5 by line"
    return Direction(about=about, source=source, target=target, vocabulary=USERS_PIECES)


def _found(name: str, part: Source, data_dir: str | None) -> str:
    path = look(part, data_dir)
    if path is None:
        refuse_unknown_file(name, part, data_dir)
    return digests.of_text(path)


def refuse_unknown_file(name: str, part: Source, data_dir: str | None) -> NoReturn:
    """A file without a known checksum is not fetched: nothing could tell whether it is the right one."""
    where = f", from {part.urls[0]}" if part.urls else ""
    raise ConfigError(
        f"{missing(name, [part], data_dir)} and not fetched, as its checksum is not known; put it there{where}"
    )
