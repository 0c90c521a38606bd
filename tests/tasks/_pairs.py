"""Small parallel texts for the tests of translation."""

import hashlib
from pathlib import Path

from workflow.tasks import store
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs

LINES = {
    "de": [
        f"{n} Vögel, die wir {verb} haben, sind schwarz."
        for n in range(20)
        for verb in ("gesehen", "gezählt")
    ],
    "en": [
        f"The {n} birds that we {verb} are black." for n in range(20) for verb in ("saw", "counted")
    ],
}
NAMES = {"train": "train", "dev": "valid", "test": "test"}
SIZES = {"train": slice(0, 30), "dev": slice(30, 34), "test": slice(34, 40)}


def join_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def files(changes: dict[str, bytes] | None = None) -> dict[str, bytes]:
    """Give the contents of six files by name, with changes."""
    contents = {
        f"{NAMES[split]}.{side}": join_lines(LINES[side][SIZES[split]])
        for split in NAMES
        for side in LINES
    }
    return contents | (changes or {})


def write_files(folder: Path, contents: dict[str, bytes]) -> str:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return str(folder)


def raw_entry(contents: dict[str, bytes], **settings) -> dict:
    """Make an entry of kind files, each with the checksum of its content."""

    def source(name: str) -> dict:
        return {"files": [name], "checksum": f"sha256:{hashlib.sha256(contents[name]).hexdigest()}"}

    sources = {
        split: {side: source(f"{name}.{side}") for side in LINES} for split, name in NAMES.items()
    }
    about = {
        "kind": "files",
        "title": "a test",
        "about": "a test",
        "source": "de",
        "target": "en",
        "vocabulary": 60,
    }
    return {**about, "files": sources, **settings}


def catalogue(contents: dict[str, bytes], **settings) -> PairCatalogue:
    return PairCatalogue(metric="bleu", pairs={"birds-deen": raw_entry(contents, **settings)})


def load(folder, changes=None, **settings) -> store.Pairs:
    contents = files(changes)
    return build_pairs(catalogue(contents, **settings), "birds-deen", write_files(folder, contents))
