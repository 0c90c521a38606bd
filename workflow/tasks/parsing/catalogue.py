"""The treebanks by name, from config/tasks/parsing.yaml, and the checksums that identify them in a
job.
"""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from workflow.config.errors import ConfigError
from workflow.config.files import list_folder, user_file
from workflow.config.strict import Name
from workflow.tasks import sources
from workflow.tasks.catalogue import BaseCatalogue, SplitName, VocabularySize
from workflow.tasks.plain_text import user_text_checksum
from workflow.tasks.sources import Source, file_checksum

USER_VOCABULARY = 8000
# version of the rules of cleaning and linearising: counted up when they change, so that jobs differ
RULES = 1
ENDINGS = (".mrg", ".prd")


class TreeEntry(Source):
    """One treebank. vocabulary: pieces of the words, with the four special ones.

    embedded: made by workflow/tasks/parsing/statements.py. file: looked for under `files`, then
    fetched from `urls`.
    folder: the first of `folders` in data_dir, its `sections` of files *.mrg or *.prd; nothing is
    fetched. trees: the sizes of the splits, consecutive in a file; a folder must have exactly as
    many.
    """

    kind: Literal["embedded", "file", "folder"]
    title: str
    about: str
    vocabulary: VocabularySize
    # None: 90, 5 and 5 %
    trees: dict[SplitName, PositiveInt] | None = Field(None, min_length=3, max_length=3)
    folders: list[str] = []
    sections: dict[SplitName, list[str]] = {}

    @model_validator(mode="after")
    def has_what_its_kind_needs(self):
        is_folder = self.kind == "folder"
        has_sections = bool(self.folders) and len(self.sections) == 3
        if is_folder != has_sections:
            expected = "folders, and sections for train, dev and test"
            raise ValueError(f"kind folder, and no other, takes {expected}")
        if is_folder == bool(self.checksum):
            reason = "a folder is identified by what is found in it"
            raise ValueError(f"kinds embedded and file take a checksum; {reason}")
        return self


class TreeCatalogue(BaseCatalogue):
    user_form: ClassVar[str] = "trees:PATH"
    trees: dict[Name, TreeEntry]

    def user_entry(self, name: str) -> TreeEntry:
        path = user_file(name.partition(":")[2], f"dataset '{name}'")
        checksum, size = user_text_checksum(path)
        about = f"{path.name}, your own trees, split 90/5/5"
        content = {"files": [str(path)], "bytes": size, "checksum": checksum}
        return TreeEntry(
            kind="file", title=path.name, about=about, vocabulary=USER_VOCABULARY, **content
        )

    def checksum(self, name: str, data_dir: str | None = None) -> str:
        """Digest what identifies the trees in a job: texts, number of pieces, split, and the rules
        of this suite.
        """
        entry = self.entry(name)
        content = entry.checksum or _checksum_of_files(name, entry, data_dir)
        return sources.json_checksum([content, entry.vocabulary, entry.trees, RULES])


def section_files(name: str, entry: TreeEntry, data_dir: str | None) -> dict[str, list[Path]]:
    """List the files of each split, by section and name, in the first folder with most splits.

    `ConfigError` if that has not all, or there is none.
    """
    best = None
    most = 0  # splits that have files
    files: dict[str, list[Path]] = {}
    for root in sources.find(entry.folders, data_dir):
        here = _files_in(root, entry.sections)
        count = sum(map(bool, here.values()))
        if count > most:
            best = root
            most = count
            files = here
    if best is None:
        where = sources.describe_data_dir(data_dir)
        names = " or ".join(entry.folders)
        place = f"a folder {names}, with your own copy"
        raise ConfigError(f"dataset '{name}': not found {where} ({place})")
    for split, sections in entry.sections.items():
        if not files[split]:
            first = sections[0]
            last = sections[-1]
            names = first if first == last else f"{first} to {last}"
            fault = f"{best} has no *.mrg or *.prd in {names}, which is {split}"
            raise ConfigError(f"dataset '{name}': {fault}")
    return files


def _files_in(root: Path, sections: dict[str, list[str]]) -> dict[str, list[Path]]:
    files: dict[str, list[Path]] = {}
    for split, names in sections.items():
        files[split] = []
        for each in names:
            for path in list_folder(root / each):
                if path.suffix.lower() in ENDINGS:
                    files[split].append(path)
    return files


def _checksum_of_files(name: str, entry: TreeEntry, data_dir: str | None) -> list[str]:
    checksums = []
    for paths in section_files(name, entry, data_dir).values():
        checksums += [file_checksum(path) for path in paths]
    return checksums
