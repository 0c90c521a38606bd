"""Where results are written, looked at before anything starts: Snakemake meets a full disk with a traceback."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workflow.config.errors import ConfigError

ROOT = Path(__file__).parents[2]  # of the suite, wherever it is run from
PRECOMPUTED = ROOT / "results" / "precomputed"  # records that came with the project
FOLDERS = (".", ".snakemake", "results", "reports", "logs")
NEEDED_MB = 100


def check_writable(root: Path) -> None:
    """`ConfigError` where a folder that the workflow writes to cannot be written, or the disk is as good as full."""
    for folder in (root / name for name in FOLDERS):
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise ConfigError(f"{folder.resolve()}: this folder is not writable")
    free = shutil.disk_usage(root).free >> 20
    if free < NEEDED_MB:
        raise ConfigError(f"{root.resolve()}: {free} MB are free on this disk, at least {NEEDED_MB} MB are needed")


def output_path(word: str | Path, ending: str) -> Path:
    """What a command writes for its user: a name with this ending, outside the folders that the workflow writes to."""
    path = Path(word)
    if path.suffix != ending:
        raise ConfigError(f"{path}: expected a name that ends in {ending}")
    for folder in ("results", "reports"):
        if path.resolve().is_relative_to(Path(folder).resolve()):
            raise ConfigError(f"{path}: {folder}/ is written by the workflow; expected a name outside it")
    return path


def config_file(place: str) -> Path:
    """A file under config/: that of the folder the suite is run in where there is one, else the suite's own."""
    own = Path("config", place)
    return own if own.exists() else ROOT / "config" / place


def config_names(folder: str) -> list[str]:
    """The names of the YAML files of a folder under config/, the suite's and those where it is run."""
    return sorted({path.stem for base in (ROOT, Path()) for path in (base / "config" / folder).glob("*.yaml")})


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write that takes its place when all of it is on the disk; until then what stood there stands."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
