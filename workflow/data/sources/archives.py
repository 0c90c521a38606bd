"""The content of a file, whether it lies there plain, as .gz, as .xz or as .zip."""

import gzip
import lzma
import zipfile
import zlib
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.data.sources.source import Source

BROKEN = (gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile, zlib.error, EOFError, IndexError, RuntimeError)


def plain(path: Path, entry: Source, size: int = -1) -> bytes:
    """Unpacked; the first `size` bytes where that is not negative. `ConfigError` where the archive is broken."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
                return file.read(size)
        with {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)(path, "rb") as file:
            return file.read(size)
    except BROKEN as error:
        raise ConfigError(
            f"{path}: truncated or corrupted ({error}){_wanted(entry)}; delete or replace the file"
        ) from None


def _wanted(entry: Source) -> str:
    size = f" {entry.bytes:,} bytes," if entry.bytes else ""
    return f", expected to unpack to{size} {entry.checksum}" if entry.checksum else ""
