"""A corpus ready for training, in one file: token ids of three splits and what they stand for."""

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workflow.choices import Refused

VERSION = 1
SPLITS = ("train", "dev", "test")


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
    """The whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = {"version": VERSION, "name": corpus.name, "symbols": corpus.symbols, "checksum": corpus.checksum}
    meta |= {"unit": corpus.unit, "about": corpus.about}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            splits = {name: getattr(corpus, name).astype(np.uint16) for name in SPLITS}
            np.savez_compressed(file, meta=np.array(json.dumps(meta)), **splits)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Path) -> Corpus:
    """`Refused` where the file is truncated, foreign or of another version; nothing in it is executed."""
    if not zipfile.is_zipfile(path):
        raise Refused(f"{path}: not a corpus of this suite (no archive); delete it and run again")
    try:
        with np.load(path, allow_pickle=False) as file:
            meta = json.loads(str(file["meta"]))
            splits = {name: file[name] for name in SPLITS}
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError) as error:
        raise Refused(f"{path}: not a corpus of this suite ({error}); delete it and run again") from None
    if meta.pop("version", None) != VERSION:
        raise Refused(f"{path}: corpus of another version, this suite reads {VERSION}; delete it and run again")
    return Corpus(**splits, **meta)
