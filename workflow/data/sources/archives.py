"""The plain content of a file, whether it is stored plain, as .gz, as .xz or as .zip."""

import gzip
import lzma
import zipfile
import zlib
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.data.sources.source import Source

BROKEN = (gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error, EOFError, IndexError, RuntimeError)


def read_plain(path: Path, source: Source, size: int = -1) -> bytes:
    """The unpacked content, or its first `size` bytes; `ConfigError` where the archive is broken."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
                return file.read(size)
        with {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)(path, "rb") as file:
            return file.read(size)
    except BROKEN as error:
        expected = _describe_expected(source)
        raise ConfigError(f"{path}: truncated or corrupted ({error}){expected}; delete or replace the file") from None


def _describe_expected(source: Source) -> str:
    size = f" {source.bytes:,} bytes," if source.bytes else ""
    return f", expected to unpack to{size} {source.checksum}" if source.checksum else ""
