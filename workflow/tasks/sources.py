"""Files of data sets: where they are looked for, what they unpack to, and the checksums that identify them.

Nothing is fetched here.
"""

import gzip
import hashlib
import json
import lzma
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, PositiveInt

from workflow.config.errors import ConfigError
from workflow.config.files import BROKEN, open_zip, user_path
from workflow.config.strict import StrictModel

PACKED = (".gz", ".xz", ".zip")
SIGNATURES = (b"\x1f\x8b", b"PK\x03\x04")  # the first bytes of .gz and .zip
SMALL = 256 << 20  # bytes that any file may unpack to
DENSEST = 100  # bytes that a packed byte may unpack to; of text it unpacks to ten
Checksum = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")]


class Source(StrictModel):
    """Where a file is looked for. bytes, checksum: of its plain content; without a checksum any content is accepted."""

    bytes: PositiveInt | None = None
    checksum: Checksum | None = None
    files: list[str] = []
    urls: list[str] = []


def verify_checksum(content: bytes, source: Source, what: str, hint: str) -> None:
    """Raise `ConfigError` with the expected and the actual checksum unless `content` is what the source describes."""
    if source.checksum is None:
        return
    algorithm, expected = source.checksum.split(":")
    actual = hashlib.new(algorithm, content).hexdigest()
    if actual != expected:
        other = source.bytes not in (None, len(content))
        size = f" ({len(content):,} bytes, expected {source.bytes:,})" if other else ""
        raise ConfigError(f"{what}: {algorithm} {actual}{size}, expected {expected}; {hint}")


def find_file(source: Source, data_dir: str | None) -> Path | None:
    """Find the first of the source's file names, plain or packed, in `data_dir` or one folder below it."""
    names = [name + ending for name in source.files for ending in ("", *PACKED)]
    for folder in data_folders(data_dir):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    return None


def data_folders(data_dir: str | None) -> list[Path]:
    """List `data_dir` and the folders in it; none where it is not set."""
    if data_dir is None:
        return []
    root = user_path(data_dir, f"data_dir '{data_dir}'")
    if not root.is_dir():
        raise ConfigError(f"data_dir '{data_dir}': no such folder")
    return [root, *sorted(path for path in root.iterdir() if path.is_dir())]


def describe_missing(name: str, sources: list[Source], data_dir: str | None) -> str:
    """Begin an error message: which files were looked for, and where."""
    names = ", ".join(file for source in sources for file in source.files)
    checksum = f", {sources[0].checksum}" if sources[0].checksum else ""
    where = describe_data_dir(data_dir)
    return f"data set '{name}'{checksum}: not found {where} ({names}; plain, .gz, .xz or .zip)"


def describe_data_dir(data_dir: str | None) -> str:
    return f"in data_dir '{data_dir}'" if data_dir else "as data_dir (or ATTENTION_DATA_DIR) is not set"


def read_plain(path: Path, source: Source, size: int = -1) -> bytes:
    """Unpack a file, or its first `size` bytes; `ConfigError` where the archive is broken, or swells."""
    most, expected = source.bytes or max(SMALL, DENSEST * path.stat().st_size), _describe_expected(source)
    try:
        content = _read(path, most + 1 if size < 0 else size)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ConfigError(f"{path}: truncated or corrupted ({error}){expected}; delete or replace the file") from None
    if len(content) > most and size < 0:
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


def json_checksum(content) -> str:
    """Digest lists, texts and numbers, written as JSON, into a checksum."""
    return f"sha256:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"


def two_user_paths(name: str, expected: str) -> tuple[Path, Path]:
    """Return A and B of a name as in `pairs:A,B`; a relative path starts in the folder that the suite is run from.

    Of several commas, which file names may have, the one that parts two paths to something.
    """
    what, words = f"data set '{name}'", name.partition(":")[2].split(",")
    halves = [(",".join(words[:n]), ",".join(words[n:])) for n in range(1, len(words))]
    pairs = [(user_path(a, what), user_path(b, what)) for a, b in halves]
    found = [pair for pair in pairs if all(path.exists() for path in pair)] or pairs
    if len(found) != 1 or not all(words):
        raise ConfigError(f"{what}: expected {expected}")
    return found[0]


def file_checksum(path: Path) -> str:
    """Digest a file's unpacked content; kept, as a plan asks for it once per variant."""
    status = path.stat()
    return _checksum(path, status.st_mtime_ns, status.st_size)


@cache
def _checksum(path: Path, changed: int, size: int) -> str:
    if path.suffix in PACKED:
        return f"sha256:{hashlib.sha256(read_plain(path, Source())).hexdigest()}"
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def user_file_checksum(what: str, path: Path) -> tuple[str, int]:
    """Return checksum and size of a user's file; `what` begins the error message where it is no plain text file."""
    if not path.is_file():
        raise ConfigError(f"{what}: no such file")
    if path.stat().st_size == 0:
        raise ConfigError(f"{what}: the file is empty")
    with open(path, "rb") as file:
        if file.read(4).startswith(SIGNATURES):
            raise ConfigError(f"{what} is an archive; unpack it first, a corpus is plain text")
    return file_checksum(path), path.stat().st_size
