"""Small parallel corpora for the tests of translation."""

import hashlib
from pathlib import Path

from workflow.tasks import store
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs

LINES = {"de": [], "en": []}
for n in range(20):
    LINES["de"] += [
        f"{n} Vögel, die wir {verb} haben, sind schwarz." for verb in ("gesehen", "gezählt")
    ]
    LINES["en"] += [f"The {n} birds that we {verb} are black." for verb in ("saw", "counted")]
NAMES = {"train": "train", "dev": "valid", "test": "test"}
SIZES = {"train": slice(0, 30), "dev": slice(30, 34), "test": slice(34, 40)}


def join_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def files(changes: dict[str, bytes] | None = None) -> dict[str, bytes]:
    """Give the contents of six files by name, with changes."""
    contents = {}
    for split, name in NAMES.items():
        for side, lines in LINES.items():
            contents[f"{name}.{side}"] = join_lines(lines[SIZES[split]])
    return contents | (changes or {})


def write_files(folder: Path, contents: dict[str, bytes]) -> str:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return str(folder)


def raw_entry(contents: dict[str, bytes], **settings) -> dict:
    """Make an entry of kind files, each with the checksum of its content."""
    sources = {split: {} for split in NAMES}
    for split, name in NAMES.items():
        for side in LINES:
            file = f"{name}.{side}"
            checksum = f"sha256:{hashlib.sha256(contents[file]).hexdigest()}"
            sources[split][side] = {"files": [file], "checksum": checksum}
    languages = {"source": "de", "target": "en", "vocabulary": 60}
    about = {"kind": "files", "title": "a test", "about": "a test", "files": sources}
    return about | languages | settings


def catalogue(contents: dict[str, bytes], **settings) -> PairCatalogue:
    return PairCatalogue(metric="bleu", pairs={"birds-deen": raw_entry(contents, **settings)})


def load(folder, changes=None, **settings) -> store.Pairs:
    contents = files(changes)
    return build_pairs(catalogue(contents, **settings), "birds-deen", write_files(folder, contents))
