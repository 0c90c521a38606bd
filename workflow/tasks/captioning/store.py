"""Pictures with captions ready for training, in one file: pixels or features, and the ids of three
splits.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workflow.tasks.store import (
    SPLITS,
    Split,
    open_npz,
    pack_sentences,
    unpack_sentences,
    write_npz,
)

VERSION = 1
METADATA = ("name", "symbols", "checksum", "about")
MAPPINGS = ("references", "names")


@dataclass(frozen=True)
class CaptionCorpus:
    """pictures: n 3 H W, uint8, or features of regions n N F, float16; numbered through train, dev
    and test.

    Sentence n of a split's target is a caption of the picture whose number is the only id of
    sentence n of its source.
    references: all captions of each picture of dev and test, by its number; names: their file
    names.
    """

    name: str
    pictures: np.ndarray
    train: Split
    dev: Split
    test: Split
    references: dict[int, list[str]]
    symbols: list[str]
    checksum: str
    about: str
    names: dict[int, str] = field(default_factory=dict)


def write(path: Path, corpus: CaptionCorpus) -> None:
    """Write the whole file or nothing; the same corpus gives the same bytes."""
    fields = {key: getattr(corpus, key) for key in (*METADATA, *MAPPINGS)}
    metadata = {"version": VERSION, **fields}
    arrays = {"pictures": corpus.pictures}
    for name in SPLITS:
        split = getattr(corpus, name)
        numbers = [int(number[0]) for number in split.source]
        arrays[f"{name}_picture"] = np.array(numbers, np.int32)
        arrays |= pack_sentences(f"{name}_target", split.target)
    write_npz(path, metadata, arrays)


def read(path: Path) -> CaptionCorpus:
    """Read a corpus; `ConfigError` where the file is truncated, foreign or of another version."""
    with open_npz(path, VERSION) as (metadata, arrays):
        for key in MAPPINGS:
            by_text = metadata[key]  # JSON keeps keys as text
            metadata[key] = {int(number): value for number, value in by_text.items()}
        splits = {}
        for split in SPLITS:
            numbers = arrays[f"{split}_picture"]
            captions = unpack_sentences(arrays, f"{split}_target")
            splits[split] = Split([*numbers[:, None]], captions)
        return CaptionCorpus(pictures=arrays["pictures"], **splits, **metadata)
