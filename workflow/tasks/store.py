"""A parallel text ready for training, in one file: the ids of its splits, in both languages, and their pieces."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.tasks.npz import SPLITS, read_npz, write_npz

VERSION = 4
PARTS = (*SPLITS, "second_test", "example")
SIDES = ("source", "target")
METADATA = ("name", "source", "target", "symbols", "checksum", "about", "dropped", "tokenised", "compounds", "uncased")
PAD, BOS, EOS, UNK = range(4)
SPACE = "▁"  # sentencepiece's sign for the space before a word


@dataclass(frozen=True)
class Split:
    """Sentence n of source is translated by sentence n of target. Ids are uint16, without <bos> and <eos>.

    The texts are those that were encoded (one space between words, small letters if the task is lower-cased): what a
    net writes is scored against them. Train has none: an empty list.
    """

    source: list[np.ndarray] = field(default_factory=list)
    target: list[np.ndarray] = field(default_factory=list)
    source_text: list[str] = field(default_factory=list)
    target_text: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pairs:
    """source, target: language codes. symbols: all pieces, of both languages; 0 to 3 are <pad> <bos> <eos> <unk>.

    dropped: pairs of train that were left out, too long or empty. tokenised, compounds, uncased: see `PairEntry`.
    second_test: of another year than test; most texts have none, an empty split. example: one pair of this project's
    own, or none.
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
    uncased: bool = False
    second_test: Split = field(default_factory=Split)
    example: Split = field(default_factory=Split)


def decode(symbols: list[str], ids: Iterable[int]) -> str:
    """The text of a sentence; <pad>, <bos> and <eos> are left out, <unk> is shown."""
    return "".join(symbols[i] for i in ids if i not in (PAD, BOS, EOS)).replace(SPACE, " ").strip(" ")


def write(path: Path, pairs: Pairs) -> None:
    """Write the whole file or nothing; the same pairs give the same bytes."""
    texts = {split: [getattr(getattr(pairs, split), f"{side}_text") for side in SIDES] for split in PARTS}
    metadata = {"version": VERSION, **{key: getattr(pairs, key) for key in METADATA}, "texts": texts}
    arrays = {}
    for split in PARTS:
        for side in SIDES:
            arrays |= pack_sentences(f"{split}_{side}", getattr(getattr(pairs, split), side))
    write_npz(path, metadata, arrays)


def read(path: Path) -> Pairs:
    """`ConfigError` where the file is truncated, foreign or of another version."""
    names = [f"{split}_{side}_{part}" for split in PARTS for side in SIDES for part in ("ids", "ends")]
    metadata, arrays = read_npz(path, names, VERSION)
    has_known_keys = sorted(metadata) == sorted((*METADATA, "texts"))
    if not has_known_keys or not _are_texts(metadata["texts"]) or not isinstance(metadata["symbols"], list):
        raise _foreign_file(path, "other keys")
    splits = {}
    for split in PARTS:
        sides = [unpack_sentences(path, arrays, f"{split}_{side}", len(metadata["symbols"])) for side in SIDES]
        texts = metadata["texts"][split]
        counts = {*map(len, sides), *(len(text) for text in texts if split != "train" or text)}
        if len(counts) != 1:
            raise _foreign_file(path, f"{split} has sides of different lengths")
        splits[split] = Split(*sides, *texts)
    return Pairs(**splits, **{key: metadata[key] for key in METADATA})


def _are_texts(content) -> bool:
    """Whether there are two lists of texts for each split."""
    if not isinstance(content, dict) or sorted(content) != sorted(PARTS):
        return False
    return all(isinstance(sides, list) and [*map(type, sides)] == [list, list] for sides in content.values())


def pack_sentences(name: str, sentences: list[np.ndarray]) -> dict[str, np.ndarray]:
    """All ids in one array, and where each sentence ends."""
    ids = np.concatenate([np.zeros(0, np.uint16), *sentences])
    ends = np.cumsum([len(sentence) for sentence in sentences], dtype="i8")
    return {f"{name}_ids": ids.astype(np.uint16), f"{name}_ends": ends}


def unpack_sentences(path: Path, arrays: dict[str, np.ndarray], name: str, symbols: int) -> list[np.ndarray]:
    """The sentences of two arrays of `pack_sentences`; `ConfigError` where the arrays do not fit each other."""
    ids, ends = arrays[f"{name}_ids"], arrays[f"{name}_ends"]
    if ids.dtype != np.uint16 or ends.dtype != np.int64 or ids.ndim != 1 or ends.ndim != 1:
        raise _foreign_file(path, "other types")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != len(ids):
        raise _foreign_file(path, "sentences that do not fit their ids")
    if int(ids.max(initial=0)) >= symbols:
        raise ConfigError(f"{path}: a token beyond its {symbols} symbols; delete it and run again")
    return np.split(ids, ends[:-1]) if len(ends) else []


def _foreign_file(path: Path, reason: str) -> ConfigError:
    return ConfigError(f"{path}: not a corpus of this suite ({reason}); delete it and run again")
