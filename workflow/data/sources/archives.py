"""The plain content of a file, whether it is stored plain, as .gz, as .xz or as .zip."""

import gzip
import lzma
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import BROKEN, open_zip
from workflow.data.sources.source import Source

SMALL = 256 << 20  # bytes that anything may unpack to
DENSEST = 100  # bytes of a byte packed: of text it is ten


def read_plain(path: Path, source: Source, size: int = -1) -> bytes:
    """The unpacked content, or its first `size` bytes; `ConfigError` where the archive is broken, or swells."""
    most = source.bytes or max(SMALL, DENSEST * path.stat().st_size)
    try:
        content = _read(path, most + 1 if size < 0 else size)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        expected = _describe_expected(source)
        raise ConfigError(f"{path}: truncated or corrupted ({error}){expected}; delete or replace the file") from None
    if len(content) > most and size < 0:
        expected = _describe_expected(source)
        raise ConfigError(f"{path}: unpacks to more than {most:,} bytes{expected}; delete or replace the file")
    return content


def _read(path: Path, size: int) -> bytes:
    if path.suffix == ".zip":
        with open_zip(path, 1 << 50) as archive, archive.open(archive.namelist()[0]) as file:
            return file.read(size)
    with {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)(path, "rb") as file:
        return file.read(size)


def _describe_expected(source: Source) -> str:
    size = f" {source.bytes:,} bytes," if source.bytes else ""
    return f", expected to unpack to{size} {source.checksum}" if source.checksum else ""
