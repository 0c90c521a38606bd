"""Archives from elsewhere: what one would unpack to is refused before it is read, and no more is read then."""

import gzip
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow.config.errors import ConfigError

PIECE = 1 << 20  # bytes
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of others Python unpacks all that comes, whatever was asked for
BROKEN = (zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, struct.error, OSError, EOFError)
BROKEN += (KeyError, IndexError, ValueError, OverflowError, RuntimeError)


@contextmanager
def open_zip(path: Path, largest: int) -> Iterator[zipfile.ZipFile]:
    """A zip archive whose entries unpack to no more than `largest` bytes in all; `ConfigError` where they would."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            if entry.compress_type not in METHODS:
                raise zipfile.BadZipFile(f"{entry.filename} is packed by another method than deflate")
        size = sum(entry.file_size for entry in entries)
        if size > largest:
            raise ConfigError(f"{path}: would unpack to {size:,} bytes, at most {largest:,} are read")
        yield archive


def pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The content of an entry, never more of it than its list says."""
    with archive.open(name) as file:
        while piece := file.read(PIECE):
            yield piece
