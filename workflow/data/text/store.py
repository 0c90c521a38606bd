"""A corpus ready for training, in one file: token ids of three splits and what they stand for."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write

VERSION = 1
SPLITS = ("train", "dev", "test")
META = ("name", "symbols", "checksum", "unit", "about")


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

    def require(self, split: str, streams: int, block: int) -> None:
        """`ConfigError` unless each of the streams that the split is cut into holds more than a block."""
        length = len(getattr(self, split))
        if length // streams <= block:
            each = f"{length // streams:,} for each of {streams} streams"
            raise ConfigError(
                f"corpus '{self.name}': {split} has {length:,} {self.unit}s, {each}; it takes more than {block:,}"
            )


def write(path: Path, corpus: Corpus) -> None:
    """The whole file or nothing; the same corpus gives the same bytes."""
    meta = {"version": VERSION, **{key: getattr(corpus, key) for key in META}}
    splits = {name: getattr(corpus, name).astype(np.uint16) for name in SPLITS}
    with atomic_write(path) as file:
        np.savez_compressed(file, meta=np.array(json.dumps(meta)), **splits)


def read(path: Path) -> Corpus:
    """`ConfigError` where the file is truncated, foreign or of another version; nothing in it is executed."""
    meta, splits = unpack(path, SPLITS, VERSION)
    ids = splits.values()
    if sorted(meta) != sorted(META) or any(split.dtype != np.uint16 or split.ndim != 1 for split in ids):
        raise ConfigError(f"{path}: not a corpus of this suite (other keys or types); delete it and run again")
    if max(int(split.max(initial=0)) for split in ids) >= len(meta["symbols"]):
        raise ConfigError(f"{path}: a token beyond its {len(meta['symbols'])} symbols; delete it and run again")
    return Corpus(**splits, **meta)


def unpack(path: Path, names: Iterable[str], version: int) -> tuple[dict, dict[str, np.ndarray]]:
    """What a file of either kind says of itself, and its arrays; `ConfigError` unless all of it is there."""
    content = io.BytesIO(Path(path).read_bytes())
    try:
        found = np.load(content, allow_pickle=False)
        meta = json.loads(str(found["meta"]))
        arrays = {name: found[name] for name in names}
        written = meta.pop("version", None)
    except Exception as error:  # numpy meets a damaged file with a dozen kinds of them
        raise ConfigError(
            f"{path}: not a corpus of this suite, or truncated ({error}); delete it and run again"
        ) from None
    if written != version:
        raise ConfigError(f"{path}: corpus of version {written}, this suite reads {version}; delete it and run again")
    return meta, arrays
