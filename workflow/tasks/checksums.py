"""Checksums of files as they are now.

A plan asks for the same checksum once per variant, so the result is cached until the file changes.
"""

import hashlib
from functools import cache
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.tasks.archives import read_plain
from workflow.tasks.sources import Source

PACKED = (b"\x1f\x8b", b"PK\x03\x04")


def file_checksum(path: Path) -> str:
    """Of the bytes of the file."""
    return _file_checksum(path, *_state(path))


def content_checksum(path: Path) -> str:
    """Of the unpacked content: a packed file and a plain one with the same content have the same checksum."""
    return _content_checksum(path, *_state(path))


def user_file_checksum(what: str, path: Path) -> tuple[str, int]:
    """Checksum and size of a user's file; `what` begins the error message where it is not a plain text file."""
    if not path.is_file():
        raise ConfigError(f"{what}: no such file")
    if path.stat().st_size == 0:
        raise ConfigError(f"{what}: the file is empty")
    with open(path, "rb") as file:
        if file.read(4).startswith(PACKED):
            raise ConfigError(f"{what} is an archive; unpack it first, a corpus is plain text")
    return file_checksum(path), path.stat().st_size


def _state(path: Path) -> tuple[int, int]:
    """Time of change and size: where neither differs, the cached checksum is used."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _file_checksum(path: Path, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@cache
def _content_checksum(path: Path, changed: int, size: int) -> str:
    return f"sha256:{hashlib.sha256(read_plain(path, Source())).hexdigest()}"
