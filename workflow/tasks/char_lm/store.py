"""A text ready for training, in one file: token ids of three splits and the symbols that they stand
for.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.tasks.store import SPLITS, open_npz, write_npz

VERSION = 1
METADATA = ("name", "symbols", "checksum", "unit", "about")


@dataclass(frozen=True)
class Corpus:
    """train, dev, test: ids into `symbols`. unit: what bpc counts, "byte" or "character"."""

    name: str
    train: np.ndarray
    dev: np.ndarray
    test: np.ndarray
    symbols: list[str]
    checksum: str
    unit: str
    about: str


def write(path: Path, corpus: Corpus) -> None:
    """Write the whole file or nothing; the same corpus gives the same bytes."""
    fields = {key: getattr(corpus, key) for key in METADATA}
    metadata = {"version": VERSION, **fields}
    arrays = {}
    for split in SPLITS:
        ids = getattr(corpus, split)
        arrays[split] = ids.astype(np.uint16)
    write_npz(path, metadata, arrays)


def read(path: Path) -> Corpus:
    """Read a corpus; `ConfigError` where the file is truncated, foreign or of another version."""
    with open_npz(path, VERSION) as (metadata, splits):
        return Corpus(**splits, **metadata)
