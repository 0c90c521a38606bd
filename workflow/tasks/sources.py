"""Files of datasets: where they are looked for, what they unpack to, and the checksums that
identify them.

Nothing is fetched here.
"""

import gzip
import hashlib
import json
import lzma
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from workflow.config.errors import ConfigError
from workflow.config.files import (
    BROKEN,
    atomic_write,
    is_left_behind,
    list_folder,
    open_zip,
    user_path,
)
from workflow.config.strict import StrictModel

PACKED = (".gz", ".xz", ".zip")
SMALL = 256 << 20  # bytes that any file may unpack to
DENSEST = 100  # bytes that a packed byte may unpack to; of text it unpacks to ten
Checksum = Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$")]


class Source(StrictModel):
    """Where a file is looked for. bytes, checksum: of its plain content; without a checksum any
    content is accepted.
    """

    bytes: PositiveInt | None = None
    checksum: Checksum | None = None
    files: list[str] = []
    urls: list[str] = []


def verify_checksum(content: bytes, source: Source, what: str, hint: str) -> None:
    """Raise `ConfigError` with the expected and the actual checksum unless `content` is what the
    source describes.
    """
    if source.checksum is None:
        return
    algorithm, expected = source.checksum.split(":")
    actual = hashlib.new(algorithm, content).hexdigest()
    if actual != expected:
        found = f"{algorithm} {actual}"
        size = ""
        if source.bytes not in (None, len(content)):
            size = f" ({len(content):,} bytes, expected {source.bytes:,})"
        raise ConfigError(f"{what}: {found}{size}, expected {expected}; {hint}")


def find(names: Iterable[str], data_dir: str | None) -> Iterator[Path]:
    """Find files and folders in `data_dir` and one folder below it, by place, then name, in
    capitals or small letters.

    Those whose letters are as in `names` come first.
    """
    listed = cache(_names_by_letters)
    for folder in data_folders(data_dir):
        for name in names:
            found = [folder]
            for part in Path(name).parts:
                below = []
                for parent in found:
                    same = listed(parent)[part.lower()]
                    below += [parent / each for each in same]
                found = below
            exact = folder / name
            yield from sorted(found, key=lambda path: path != exact)


def _names_by_letters(folder: Path) -> dict[str, list[str]]:
    """Map small letters to the names in a folder that are the same but for capitals; a folder may
    not be readable.
    """
    names = defaultdict(list)
    with suppress(OSError):
        for name in os.listdir(folder):
            names[name.lower()].append(name)
    return names


def find_files(source: Source, data_dir: str | None) -> Iterator[Path]:
    """Find the files that have one of the source's names, plain or packed."""
    names = []
    for name in source.files:
        names += [name, *(name + ending for ending in PACKED)]
    return filter(os.path.isfile, find(names, data_dir))


def find_file(source: Source, data_dir: str | None) -> Path | None:
    """Find the first file that has one of the source's names, plain or packed."""
    return next(find_files(source, data_dir), None)


def data_folders(data_dir: str | None) -> list[Path]:
    """List `data_dir` and the folders in it; none where it is not set."""
    if data_dir is None:
        return []
    root = user_path(data_dir, f"data_dir '{data_dir}'")
    if not root.is_dir():
        raise ConfigError(f"data_dir '{data_dir}': no such folder")
    return [root, *filter(os.path.isdir, list_folder(root))]


def describe_missing(name: str, source: Source, data_dir: str | None) -> str:
    """Begin an error message: which files were looked for, and where."""
    checksum = f", {source.checksum}" if source.checksum else ""
    where = describe_data_dir(data_dir)
    names = ", ".join(source.files)
    kinds = "uncompressed, .gz, .xz or .zip"
    return f"dataset '{name}'{checksum}: not found {where} ({names}; {kinds})"


def describe_data_dir(data_dir: str | None) -> str:
    if data_dir:
        return f"in data_dir '{data_dir}'"
    return "because data_dir (or ATTENTION_DATA_DIR) is not set"


def read_plain(path: Path, source: Source) -> bytes:
    """Unpack a file, or its first bytes where the source says how many; `ConfigError` where it is
    broken, or swells.
    """
    most = max(SMALL, DENSEST * path.stat().st_size)
    expected = ""
    if source.checksum:
        size = f" {source.bytes:,} bytes," if source.bytes else ""
        expected = f", expected to unpack to{size} {source.checksum}"
    hint = f"{expected}; delete or replace the file"
    try:
        content = _read(path, source.bytes or most + 1)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ConfigError(f"{path}: truncated or corrupted ({error}){hint}") from None
    if len(content) > (source.bytes or most):
        raise ConfigError(f"{path}: unpacks to more than {most:,} bytes{hint}")
    return content


def _read(path: Path, size: int) -> bytes:
    ending = path.suffix.lower()
    if ending == ".zip":
        with open_zip(path, 1 << 50) as archive:
            names = []
            for name in archive.namelist():
                is_folder = name.endswith("/")
                if not is_folder and not is_left_behind(name):
                    names.append(name)
            with archive.open(names[0]) as file:
                return file.read(size)
    openers = {".gz": gzip.open, ".xz": lzma.open}
    opener = openers.get(ending, open)
    with opener(path, "rb") as file:
        return file.read(size)


def json_checksum(content) -> str:
    """Digest lists, texts and numbers, written as JSON, into a checksum."""
    written = json.dumps(content).encode()
    return f"sha256:{hashlib.sha256(written).hexdigest()}"


def two_user_paths(name: str, expected: str) -> tuple[Path, Path]:
    """Return A and B of a name as in `pairs:A,B`; a relative path starts in the working folder.

    Of several commas, which file names may have, the one that parts two paths to something.
    """
    what = f"dataset '{name}'"
    _, _, paths = name.partition(":")
    words = paths.split(",")
    pairs = []
    for n in range(1, len(words)):
        first = user_path(",".join(words[:n]), what)
        second = user_path(",".join(words[n:]), what)
        pairs.append((first, second))
    existing = [pair for pair in pairs if all(path.exists() for path in pair)]
    found = existing or pairs
    if len(found) != 1 or not all(words):
        raise ConfigError(f"{what}: expected {expected}")
    return found[0]


def state(path: Path) -> tuple[str, int, int, int]:
    """Return path, size and times of a file, which are others once it is written, or another takes
    its place.
    """
    if not os.path.isfile(path):
        raise ConfigError(f"{path}: no such file")
    status = os.stat(path)
    return os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read_once(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Keep what a function reads of a file until the file changes: a plan asks for it once per
    variant.
    """
    kept = cache(lambda path, _: read(path))
    return wraps(read)(lambda path: kept(path, state(path)))


@read_once
def file_checksum(path: Path) -> str:
    """Digest a file's unpacked content."""
    if path.suffix.lower() in PACKED:
        content = read_plain(path, Source())
        return f"sha256:{hashlib.sha256(content).hexdigest()}"
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def cache_folder() -> Path:
    """Return the folder that keeps downloads and checksums, for every checkout of this user."""
    import pooch  # few plans look there

    return Path(pooch.os_cache("attention-suite"))


def files_checksum(paths: list[Path]) -> str:
    """Digest the contents of many files, in their order.

    The digest is kept on the disk, for the files may be tens of gigabytes.
    """
    states = json_checksum([state(path) for path in paths])
    digits = states.removeprefix("sha256:")
    kept = cache_folder() / f"{digits}.checksum"
    with suppress(OSError):
        return kept.read_text()
    with ThreadPoolExecutor() as threads:
        checksums = list(threads.map(file_checksum, paths))
    checksum = json_checksum(checksums)
    with suppress(OSError), atomic_write(kept) as file:
        file.write(checksum.encode())
    return checksum
