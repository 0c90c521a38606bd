"""Pictures with captions ready for training, in one file: pixels or features, and the ids of three splits."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.tasks.npz import SPLITS, read_npz, write_npz
from workflow.tasks.store import Split, pack_sentences, unpack_sentences

VERSION = 1
METADATA = ("name", "symbols", "checksum", "about")
MAPPINGS = ("references", "names")


@dataclass(frozen=True)
class CaptionCorpus:
    """pictures: n 3 H W, uint8, or features of regions n N F, float16; numbered through train, dev and test.

    Sentence n of a split's target is a caption of the picture whose number is the only id of sentence n of its source.
    references: all captions of each picture of dev and test, by its number; names: their file names.
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
    metadata = {"version": VERSION, **{key: getattr(corpus, key) for key in (*METADATA, *MAPPINGS)}}
    arrays = {"pictures": corpus.pictures}
    for name in SPLITS:
        split = getattr(corpus, name)
        arrays[f"{name}_picture"] = np.array([int(number[0]) for number in split.source], np.int32)
        arrays |= pack_sentences(f"{name}_target", split.target)
    write_npz(path, metadata, arrays)


def read(path: Path) -> CaptionCorpus:
    """`ConfigError` where the file is truncated, foreign or of another version."""
    names = [f"{split}_{part}" for split in SPLITS for part in ("picture", "target_ids", "target_ends")]
    metadata, arrays = read_npz(path, ["pictures", *names], VERSION)
    if not _is_metadata(metadata):
        raise ConfigError(f"{path}: not captions of this suite (other keys or types); delete it and run again")
    pictures = arrays["pictures"]
    if not _are_pictures(pictures):
        raise ConfigError(f"{path}: not captions of this suite (other pictures); delete it and run again")
    for key in MAPPINGS:  # JSON has no numbers as keys
        metadata[key] = {int(number): value for number, value in metadata[key].items()}
    splits = {}
    for split in SPLITS:
        target = unpack_sentences(path, arrays, f"{split}_target", len(metadata["symbols"]))
        numbers = arrays[f"{split}_picture"]
        are_integers = numbers.ndim == 1 and numbers.dtype == np.int32
        if not are_integers or len(numbers) != len(target) or not ((numbers >= 0) & (numbers < len(pictures))).all():
            raise ConfigError(f"{path}: not captions of this suite ({split} does not fit its pictures); delete it")
        splits[split] = Split([*numbers[:, None]], target, [], [])
    return CaptionCorpus(pictures=pictures, **splits, **metadata)


def _is_metadata(metadata: dict) -> bool:
    if sorted(metadata) != sorted((*METADATA, *MAPPINGS)) or not isinstance(metadata["symbols"], list):
        return False
    return all(isinstance(metadata[key], dict) for key in MAPPINGS) and all(map(str.isdigit, metadata["references"]))


def _are_pictures(array: np.ndarray) -> bool:
    """Square pictures of pixels, or features of regions."""
    if array.dtype == np.uint8:
        return array.ndim == 4 and array.shape[2] == array.shape[3]
    return array.dtype == np.float16 and array.ndim == 3
