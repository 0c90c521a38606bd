"""Pictures with captions ready for training, in one file: pixels or features, and the ids of three splits."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write
from workflow.data.pairs.store import Split, flat, unflat
from workflow.data.text.store import SPLITS, unpack

VERSION = 1
META = ("name", "symbols", "checksum", "about")


@dataclass(frozen=True)
class Captioned:
    """pictures: n 3 H W, uint8, or features of regions n N F, float16; numbered through train, dev and test.

    Sentence n of a split's target is a caption of the picture whose number is the one entry of its source;
    source_text names the picture. references: all captions of each picture of dev and test, by its number.
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


def write(path: Path, corpus: Captioned) -> None:
    """The whole file or nothing; the same corpus gives the same bytes."""
    told = {"references": corpus.references, "names": corpus.names}
    meta = {"version": VERSION, **{key: getattr(corpus, key) for key in META}, **told}
    arrays = {"pictures": corpus.pictures}
    for split in SPLITS:
        here = getattr(corpus, split)
        arrays[f"{split}_picture"] = np.array([int(one[0]) for one in here.source], np.int32)
        arrays |= flat(f"{split}_target", here.target)
    with atomic_write(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)


def read(path: Path) -> Captioned:
    """`ConfigError` where the file is truncated, foreign or of another version; nothing in it is executed."""
    names = [f"{split}_{part}" for split in SPLITS for part in ("picture", "target_ids", "target_ends")]
    meta, arrays = unpack(path, ["pictures", *names], VERSION)
    pictures = arrays["pictures"]
    kinds = {"references": dict, "names": dict, "symbols": list}
    if sorted(meta) != sorted((*META, "references", "names")) or not (
        all(isinstance(meta[key], kind) for key, kind in kinds.items()) and all(map(str.isdigit, meta["references"]))
    ):
        raise ConfigError(f"{path}: not captions of this suite (other keys or types); delete it and run again")
    pixels = pictures.dtype == np.uint8 and pictures.ndim == 4 and pictures.shape[2] == pictures.shape[3]
    if not pixels and not (pictures.dtype == np.float16 and pictures.ndim == 3):
        raise ConfigError(f"{path}: not captions of this suite (other pictures); delete it and run again")
    references, called = (
        {int(key): value for key, value in meta.pop(part).items()} for part in ("references", "names")
    )
    splits = {}
    for split in SPLITS:
        target = unflat(path, arrays, f"{split}_target", len(meta["symbols"]))
        numbers = arrays[f"{split}_picture"]
        whole_numbers = numbers.ndim == 1 and numbers.dtype == np.int32
        if not whole_numbers or len(numbers) != len(target) or not ((numbers >= 0) & (numbers < len(pictures))).all():
            raise ConfigError(f"{path}: not captions of this suite ({split} does not fit its pictures); delete it")
        splits[split] = Split([one for one in numbers[:, None]], target, [], [])
    return Captioned(pictures=pictures, references=references, names=called, **splits, **meta)
