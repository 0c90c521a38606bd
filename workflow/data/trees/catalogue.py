"""Which treebanks there are, from config/tasks/parsing.yaml, and what identifies them in a job."""

import hashlib
import json
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from workflow.config.errors import ConfigError
from workflow.data.pairs.catalogue import Split, Vocabulary
from workflow.data.sources import checksums as digests
from workflow.data.sources.catalogue import Names
from workflow.data.sources.lookup import data_folders
from workflow.data.sources.source import Source

USERS = "trees:"
USERS_PIECES = 8000
RULES = 1  # of cleaning and linearising: counted up when they change, so that old runs are not taken for new ones
Counts = dict[Split, PositiveInt]


class Treebank(Source):
    """One treebank. vocabulary: pieces of the words, with the four special ones.

    embedded: made by workflow/data/statements.py. file: looked for under `files`, then fetched from `urls`. folder:
    the first of `folders` in data_dir, its `sections` of files *.mrg or *.prd; nothing is fetched. trees: how many
    each split has, one behind the other; of a folder, how many each must have.
    """

    kind: Literal["embedded", "file", "folder"]
    about: str
    vocabulary: Vocabulary
    trees: Counts | None = Field(None, min_length=3, max_length=3)  # None: 90, 5 and 5 %
    folders: list[str] = []
    sections: dict[Split, list[str]] = {}

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        if (self.kind == "folder") != (bool(self.folders) and len(self.sections) == 3):
            raise ValueError("kind folder, and no other, takes folders, and sections for train, dev and test")
        if (self.kind == "folder") == bool(self.checksum):
            raise ValueError("kinds embedded and file take a checksum; a folder is identified by what is found in it")
        return self


class TreeCatalogue(Names):
    form: ClassVar[str] = f"{USERS}PATH"
    trees: dict[str, Treebank]

    @property
    def named(self) -> dict[str, Treebank]:
        return self.trees

    def of_user(self, name: str) -> Treebank:
        path = Path(name.removeprefix(USERS)).expanduser()
        checksum, size = digests.users_file(f"data set '{name}'", path)
        about = f"{path.name}, trees of the user's; our own split 90/5/5"
        given = {"kind": "file", "about": about, "vocabulary": USERS_PIECES}
        return Treebank(**given, checksum=checksum, bytes=size, files=[str(path)])

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """What identifies the trees in a job: of the texts, the pieces, the split and the rules of this suite."""
        entry = self.entry(name)
        text = entry.checksum or _found(name, entry, data_dir)
        said = [text, entry.vocabulary, entry.trees, RULES]
        return f"sha256:{hashlib.sha256(json.dumps(said).encode()).hexdigest()}"


def section_files(name: str, entry: Treebank, data_dir: str | None) -> dict[str, list[Path]]:
    """The files of each split of a folder, in the order of their names; `ConfigError` where one has none."""
    folders = [folder / one for folder in data_folders(data_dir) for one in entry.folders if (folder / one).is_dir()]
    where = f"in data_dir '{data_dir}'" if data_dir else "as data_dir (or ATTENTION_DATA_DIR) is not set"
    if not folders:
        raise ConfigError(
            f"data set '{name}': not found {where} (a folder {' or '.join(entry.folders)}, with your own copy)"
        )
    found = {}
    for split, sections in entry.sections.items():
        paths = [path for one in sections for path in sorted((folders[0] / one).glob("*")) if path.is_file()]
        found[split] = [path for path in paths if path.suffix in (".mrg", ".prd")]
        if not found[split]:
            named = f"{sections[0]} to {sections[-1]}" if len(sections) > 1 else sections[0]
            raise ConfigError(f"data set '{name}': {folders[0]} has no *.mrg or *.prd in {named}, which is {split}")
    return found


def _found(name: str, entry: Treebank, data_dir: str | None) -> list[str]:
    return [digests.of_bytes(path) for paths in section_files(name, entry, data_dir).values() for path in paths]
