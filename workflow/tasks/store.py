"""Datasets ready for training, each in one .npz: arrays by name, metadata as JSON. Pairs of
sentences, so stored.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write, open_zip
from workflow.tasks.catalogue import SPLITS


def largest() -> int:
    """Return how many bytes a file may unpack to: half of the free memory, if that is known."""
    with suppress(OSError, RuntimeError):
        return psutil.virtual_memory().available // 2
    return sys.maxsize


def write_npz(path: Path, metadata: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write the whole file or nothing; the same content gives the same bytes."""
    with atomic_write(path) as file:
        written = json.dumps(metadata)
        np.savez_compressed(file, meta=np.array(written), **arrays)


@contextmanager
def open_npz(path: Path, version: int) -> Iterator[tuple[dict, dict[str, np.ndarray]]]:
    """Give a file's metadata and arrays to the block, which builds something from them.

    `ConfigError` for a file that this suite did not write, or from which the block cannot build.
    Nothing in the file is executed.
    """
    try:
        with open_zip(path, largest()):
            pass
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        metadata = json.loads(str(arrays.pop("meta")))
        found = metadata.pop("version", None)
        if found == version:
            yield metadata, arrays
            return
    except (ConfigError, FileNotFoundError):
        raise
    except Exception as error:  # numpy raises a dozen kinds of error on damaged files
        reason = " ".join(str(error).split())
        wrong = f"not a corpus of this suite, or truncated ({reason})"
        raise ConfigError(f"{path}: {wrong}; delete it and run again") from None
    other = f"corpus of version {found}, this suite reads {version}"
    raise ConfigError(f"{path}: {other}; delete it and run again")


VERSION = 4
PARTS = (*SPLITS, "second_test", "example")
METADATA = (
    "name",
    "source",
    "target",
    "symbols",
    "checksum",
    "about",
    "dropped",
    "tokenised",
    "compounds",
    "uncased",
    "planted",
)
PAD, BOS, EOS, UNK = range(4)
SPACE = "▁"  # sentencepiece's sign for the space before a word


@dataclass(frozen=True)
class Split:
    """Sentence n of source is translated by sentence n of target. Ids are uint16, without <bos> and
    <eos>.

    The texts are those that were encoded (one space between words, small letters if the task is
    lower-cased): what a net writes is scored against them. Train has none: an empty list.
    """

    source: list[np.ndarray] = field(default_factory=list)
    target: list[np.ndarray] = field(default_factory=list)
    source_text: list[str] = field(default_factory=list)
    target_text: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pairs:
    """source, target: language codes. symbols: all pieces, of both languages; 0 to 3 are <pad>
    <bos> <eos> <unk>.

    dropped: pairs of train that were left out, too long or empty. tokenised, compounds, uncased,
    planted: see `PairEntry`.
    second_test: of another year than test; most texts have none, an empty split. example: one pair
    of this project's own, or none.
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
    planted: int = 0
    second_test: Split = field(default_factory=Split)
    example: Split = field(default_factory=Split)


def as_ids(numbers: Iterable[int]) -> np.ndarray:
    """Make the array of a sentence of its ids."""
    return np.array(numbers, np.uint16)


def decode(symbols: list[str], ids: Iterable[int]) -> str:
    """Write out the text of a sentence; <pad>, <bos> and <eos> are left out, <unk> is shown."""
    pieces = []
    for token in ids:
        if token not in (PAD, BOS, EOS):
            pieces.append(symbols[token])
    return "".join(pieces).replace(SPACE, " ").strip(" ")


def write(path: Path, pairs: Pairs) -> None:
    """Write the whole file or nothing; the same pairs give the same bytes."""
    texts = {}
    arrays = {}
    for name in PARTS:
        split = getattr(pairs, name)
        texts[name] = [split.source_text, split.target_text]
        arrays |= pack_sentences(f"{name}_source", split.source)
        arrays |= pack_sentences(f"{name}_target", split.target)
    fields = {key: getattr(pairs, key) for key in METADATA}
    metadata = {"version": VERSION, **fields, "texts": texts}
    write_npz(path, metadata, arrays)


def read(path: Path) -> Pairs:
    """Read pairs; `ConfigError` where the file is truncated, foreign or of another version."""
    with open_npz(path, VERSION) as (metadata, arrays):
        texts = metadata.pop("texts")
        splits = {}
        for name in PARTS:
            source = unpack_sentences(arrays, f"{name}_source")
            target = unpack_sentences(arrays, f"{name}_target")
            splits[name] = Split(source, target, *texts[name])
        return Pairs(**splits, **metadata)


def describe(pairs: Pairs) -> str:
    """Say in a line how large splits and vocabulary are, and which languages."""
    sizes = []
    for name in PARTS:
        count = len(getattr(pairs, name).source)
        if count:
            sizes.append(f"{name.replace('_', ' ')} {count:,}")
    dropped = ""
    if pairs.dropped:
        dropped = f"; {pairs.dropped:,} of train left out, empty or too long"
    languages = f"{pairs.source}-{pairs.target}"
    symbols = f"{len(pairs.symbols):,} symbols"
    return f"{pairs.name}: {', '.join(sizes)} pairs {languages}, {symbols}{dropped}"


def pack_sentences(name: str, sentences: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Pack all ids into one array, and where each sentence ends into another."""
    nothing = np.zeros(0, np.uint16)  # there may be no sentence
    ids = np.concatenate([nothing, *sentences])
    lengths = [len(sentence) for sentence in sentences]
    ends = np.cumsum(lengths, dtype="i8")
    return {f"{name}_ids": ids.astype(np.uint16), f"{name}_ends": ends}


def unpack_sentences(arrays: dict[str, np.ndarray], name: str) -> list[np.ndarray]:
    """Unpack the two arrays of `pack_sentences`."""
    ids = arrays[f"{name}_ids"]
    ends = arrays[f"{name}_ends"]
    if not len(ends):
        return []
    return np.split(ids, ends[:-1])
