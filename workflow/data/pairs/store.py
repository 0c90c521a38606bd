"""A parallel text ready for training, in one file: the ids of three splits, in both languages, and their pieces."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write
from workflow.data.text.store import SPLITS, unpack

VERSION = 1
SIDES = ("source", "target")
META = ("name", "source", "target", "symbols", "checksum", "about", "dropped", "tokenised", "compounds")
PAD, BOS, EOS, UNK = range(4)
SPACE = "▁"  # stands for the space before a word


@dataclass(frozen=True)
class Split:
    """Sentence n of source is translated by sentence n of target. Ids are uint16, without <bos> and <eos>.

    The texts are those that were encoded (one space between words, small letters where the task has them), so that
    what a net writes is compared with what it was asked for. Train has none: an empty list.
    """

    source: list[np.ndarray]
    target: list[np.ndarray]
    source_text: list[str]
    target_text: list[str]


@dataclass(frozen=True)
class Pairs:
    """source, target: language codes. symbols: all pieces, of both languages; 0 to 3 are <pad> <bos> <eos> <unk>.

    dropped: pairs of train that were left out, too long or empty. tokenised, compounds: see `Direction`.
    """

    name: str
    source: str
    target: str
    train: Split
    dev: Split
    test: Split
    symbols: list[str]
    checksum: str
    about: str
    dropped: int = 0
    tokenised: bool = False
    compounds: bool = False


def decode(symbols: list[str], ids: Iterable[int]) -> str:
    """The text of a sentence; <pad>, <bos> and <eos> are left out, <unk> is shown."""
    return "".join(symbols[i] for i in ids if i not in (PAD, BOS, EOS)).replace(SPACE, " ").strip(" ")


def write(path: Path, pairs: Pairs) -> None:
    """The whole file or nothing; the same pairs give the same bytes."""
    texts = {split: [getattr(getattr(pairs, split), f"{side}_text") for side in SIDES] for split in SPLITS}
    meta = {"version": VERSION, **{key: getattr(pairs, key) for key in META}, "texts": texts}
    arrays = {}
    for split in SPLITS:
        for side in SIDES:
            arrays |= flat(f"{split}_{side}", getattr(getattr(pairs, split), side))
    with atomic_write(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **arrays)


def read(path: Path) -> Pairs:
    """`ConfigError` where the file is truncated, foreign or of another version; nothing in it is executed."""
    names = [f"{split}_{side}_{part}" for split in SPLITS for side in SIDES for part in ("ids", "ends")]
    meta, arrays = unpack(path, names, VERSION)
    if sorted(meta) != sorted((*META, "texts")) or not _texts(meta["texts"]) or not isinstance(meta["symbols"], list):
        raise _foreign(path, "other keys")
    splits = {}
    for split in SPLITS:
        sides = [unflat(path, arrays, f"{split}_{side}", len(meta["symbols"])) for side in SIDES]
        counts = {*map(len, sides), *(len(text) for text in meta["texts"][split] if split != "train" or text)}
        if len(counts) != 1:
            raise _foreign(path, f"{split} has sides of different lengths")
        splits[split] = Split(*sides, *meta["texts"][split])
    return Pairs(**splits, **{key: meta[key] for key in META})


def _texts(content) -> bool:
    """Whether there are two lists of texts for each split."""
    if not isinstance(content, dict) or sorted(content) != sorted(SPLITS):
        return False
    return all(isinstance(two, list) and [*map(type, two)] == [list, list] for two in content.values())


def flat(name: str, sentences: list[np.ndarray]) -> dict[str, np.ndarray]:
    """All ids in a row, and where each sentence ends."""
    ids = np.concatenate([np.zeros(0, np.uint16), *sentences])
    return {
        f"{name}_ids": ids.astype(np.uint16),
        f"{name}_ends": np.cumsum([len(one) for one in sentences], dtype="i8"),
    }


def unflat(path: Path, arrays: dict[str, np.ndarray], name: str, symbols: int) -> list[np.ndarray]:
    ids, ends = arrays[f"{name}_ids"], arrays[f"{name}_ends"]
    if ids.dtype != np.uint16 or ends.dtype != np.int64 or ids.ndim != 1 or ends.ndim != 1:
        raise _foreign(path, "other types")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != len(ids):
        raise _foreign(path, "sentences that do not fit their ids")
    if int(ids.max(initial=0)) >= symbols:
        raise ConfigError(f"{path}: a token beyond its {symbols} symbols; delete it and run again")
    return np.split(ids, ends[:-1]) if len(ends) else []


def _foreign(path: Path, what: str) -> ConfigError:
    return ConfigError(f"{path}: not a corpus of this suite ({what}); delete it and run again")
