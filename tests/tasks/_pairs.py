"""Small parallel corpora for the tests of translation."""

import hashlib
from pathlib import Path

from workflow.tasks import store
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs

GERMAN = []
ENGLISH = []
for n in range(20):
    GERMAN.append(f"{n} Vögel, die wir gesehen haben, sind schwarz.")
    ENGLISH.append(f"The {n} birds that we saw are black.")
    GERMAN.append(f"{n} Vögel, die wir gezählt haben, sind schwarz.")
    ENGLISH.append(f"The {n} birds that we counted are black.")
LINES = {"de": GERMAN, "en": ENGLISH}
NAMES = {"train": "train", "dev": "valid", "test": "test"}
SIDES = ("de", "en")


def join_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def files(**changes: bytes) -> dict[str, bytes]:
    """Give the contents of six files by name, with changes."""
    contents = {}
    for side, lines in LINES.items():
        contents[f"train.{side}"] = join_lines(lines[:30])
        contents[f"valid.{side}"] = join_lines(lines[30:34])
        contents[f"test.{side}"] = join_lines(lines[34:])
    return contents | changes


def write_files(folder: Path, contents: dict[str, bytes]) -> str:
    for name, content in contents.items():
        file = folder / name
        file.write_bytes(content)
    return str(folder)


def raw_entry(contents: dict[str, bytes], **settings) -> dict:
    """Make an entry of kind files, each with the checksum of its content."""
    sources = {}
    for split, name in NAMES.items():
        of_split = {}
        for side in SIDES:
            file = f"{name}.{side}"
            digest = hashlib.sha256(contents[file]).hexdigest()
            checksum = f"sha256:{digest}"
            of_split[side] = {"files": [file], "checksum": checksum}
        sources[split] = of_split
    entry = {
        "kind": "files",
        "title": "a test",
        "about": "a test",
        "files": sources,
        "source": "de",
        "target": "en",
        "vocabulary": 60,
    }
    return entry | settings


def catalogue(contents: dict[str, bytes], **settings) -> PairCatalogue:
    entry = raw_entry(contents, **settings)
    return PairCatalogue(metric="bleu", pairs={"birds-deen": entry})


def load(folder: Path, changes=None, **settings) -> store.Pairs:
    contents = files(**changes or {})
    pairs = catalogue(contents, **settings)
    place = write_files(folder, contents)
    return build_pairs(pairs, "birds-deen", place)
