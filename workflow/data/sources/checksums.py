"""Checksums of files as they are now. Each state of a file is read once: a plan asks once per variant."""

import hashlib
from functools import cache
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.data.sources.archives import plain
from workflow.data.sources.source import Source

PACKED = (b"\x1f\x8b", b"PK\x03\x04")


def of_bytes(path: Path) -> str:
    return _of_bytes(path, *_state(path))


def of_text(path: Path) -> str:
    """Of what an archive holds, so that a packed file is the same text."""
    return _of_text(path, *_state(path))


def users_file(what: str, path: Path) -> tuple[str, int]:
    """Checksum and size of a user's file as it is now; `what` begins the line where it is no text."""
    if not path.is_file():
        raise ConfigError(f"{what}: no such file")
    if path.stat().st_size == 0:
        raise ConfigError(f"{what}: the file is empty")
    with open(path, "rb") as file:
        if file.read(4).startswith(PACKED):
            raise ConfigError(f"{what} is an archive; unpack it first, a corpus is plain text")
    return of_bytes(path), path.stat().st_size


def _state(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


@cache
def _of_bytes(path: Path, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@cache
def _of_text(path: Path, changed: int, size: int) -> str:
    return f"sha256:{hashlib.sha256(plain(path, Source())).hexdigest()}"
