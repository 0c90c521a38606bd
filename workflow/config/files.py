"""Files: where results are written, config is found, and archives from elsewhere are opened."""

import errno
import gzip
import lzma
import os
import platform
import pwd
import re
import shutil
import struct
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from workflow.config.errors import ConfigError

ROOT = Path(__file__).parents[2]  # of the suite, wherever it is run from
PRECOMPUTED = ROOT / "results" / "precomputed"  # records that came with the project
# Where every workflow writes, Snakemake's own notes included. `refuse_unwritable` looks at what
# this one will write.
NOTES = tuple(
    f".snakemake/{name}" for name in ("log", "locks", "metadata", "incomplete", "auxiliary")
)
FOLDERS = (".", ".snakemake", *NOTES, "results", "reports", "logs")
NEEDED_MB = 100
# a folder may be shared, and a number is a process of one host
HOST = re.sub(r"\W", "-", platform.node())
LOOKS_READ = re.compile(r".*\.(ya?ml|py)(\.txt)?", re.IGNORECASE)
UNFINISHED = re.compile(r"\..+\.([\w-]*)\.(\d+)\.part")
# Hidden files, copies and locks of editors, what Finder, Windows, Synology and a disk check leave,
# compiled modules.
LEFT_BEHIND = re.compile(
    r"\..+|.*~|~\$.*|#.*#|__pycache__|__macosx|lost\+found|desktop\.ini|thumbs\.db|@eadir|\$recycle\.bin",
    re.IGNORECASE,
)
UNPACKED: dict[Path, Path] = {}  # folders that hold an archive's files for a while: the archive
DAY = 86400  # seconds
AHEAD = 1.0  # seconds by which another machine's clock may be ahead; a step takes about as long
PIECE = 1 << 20  # bytes
# of others Python unpacks all that comes, whatever was asked for
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
)
BROKEN += (KeyError, IndexError, ValueError, OverflowError, RuntimeError)


# no space, none left to this user, nothing written here at all
NO_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class CannotWrite(OSError):
    """A file cannot be written: no fault of what was to be written."""


def raise_if_full(error: BaseException, path: Path | None = None) -> None:
    """Raise `CannotWrite` where an error, or what it came of, says that a disk takes no more.

    path: what was being written, where the error does not name it.
    """
    refusal = _refusal(error)
    if refusal and refusal.errno in NO_MORE:
        raise CannotWrite(
            refusal.errno, refusal.strerror, refusal.filename or (path and str(path))
        ) from error


def check_writable(root: Path) -> None:
    """Raise `ConfigError` where a folder to write to cannot be written, or the disk is as good as
    full.

    And where a name has braces, which Snakemake takes for variables, or the suite's a colon, where
    PYTHONPATH splits.
    """
    _refuse_name(root.resolve(), "{}", "braces")
    _refuse_name(ROOT, "{}" + os.pathsep, "braces or a colon")
    for name in FOLDERS:
        folder = root / name
        if folder.exists():
            _refuse_unwritable(folder)
    with suppress(OSError):  # some file systems do not say
        free = shutil.disk_usage(root).free >> 20
        if free < NEEDED_MB:
            raise ConfigError(
                f"{root.resolve()}: {free} MB free on this disk; at least {NEEDED_MB} MB are needed"
            )


def _refuse_name(folder: Path, signs: str, named: str) -> None:
    """Raise `ConfigError` where the name of a folder has one of these signs."""
    if set(signs) & set(str(folder)):
        raise ConfigError(
            f"{folder}: the workflow cannot run in or from a folder whose name contains {named}"
        )


def refuse_unwritable(written: Iterable[str]) -> None:
    """Raise `ConfigError` where a file could not be written: for its folder, or the nearest one
    above that is there.
    """
    for folder in sorted({Path(path).parent for path in written}):
        while not folder.exists():
            folder = folder.parent
        _refuse_unwritable(folder)


def _refuse_unwritable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        owner = _user(folder.stat().st_uid)
        user = _user(os.geteuid())
        whose = "" if owner == user else f"; it belongs to {owner}, you are {user}"
        raise ConfigError(f"{folder.resolve()}: this folder is not writable{whose}")


def _user(number: int) -> str:
    """Name a user; by the number where this machine knows no name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def end_future(paths: Iterable[Path]) -> None:
    """Bring times of change that lie in the future, by this machine's clock, up to now, in their
    order.

    Such are the files of a folder that was copied, or of a file system that another machine's clock
    rules. What a step makes of them would be older than they, and Snakemake removes it, however
    long it took. Another user's files stay as they are.
    """
    now = time.time_ns()
    later = []
    for path in paths:
        with suppress(OSError):
            changed = os.stat(path).st_mtime_ns
            if changed > now:
                later.append((changed, path))
    # the latest becomes now, the one before it a nanosecond less
    times = sorted({changed for changed, _ in later}, reverse=True)
    ranks = {changed: rank for rank, changed in enumerate(times)}
    for changed, path in later:
        with suppress(OSError):
            new = now - ranks[changed]
            os.utime(path, ns=(new, new))


def refuse_future(paths: Iterable[str]) -> None:
    """Raise `ConfigError` for a file whose time of change lies in the future, by this machine's
    clock.
    """
    now = time.time()
    for path in paths:
        with suppress(FileNotFoundError):
            # of a link, and of the file that it leads to
            changed = max(os.stat(path).st_mtime, os.lstat(path).st_mtime)
            if changed > now + AHEAD:
                ahead = f"{changed - now:,.0f} seconds in the future"
                raise ConfigError(
                    f"{path}: modified {ahead} by this machine's clock, "
                    "so what depends on it would seem out of date; `touch` it"
                )


def files_below(*folders: str) -> Iterator[Path]:
    """List every file in these folders, links followed, but for what ships with the project."""
    for folder in folders:
        for place, _, names in os.walk(folder, followlinks=True):
            if not Path(place).is_relative_to(PRECOMPUTED):
                yield from (Path(place, name) for name in names)


def user_path(word: str, what: str) -> Path:
    """Read what is called so, or else a path with ~ for a home and no blanks at its ends; what:
    begins a refusal.
    """
    try:
        if Path(word).exists():
            return Path(word)
        return Path(word.strip()).expanduser()
    except RuntimeError:
        raise ConfigError(f"{what}: {word}: no such home folder") from None


def user_file(word: str, what: str) -> Path:
    """Read the path of a file as its user wrote it; `ConfigError`, begun by `what`, where there is
    none.
    """
    path = user_path(word, what)
    if not path.is_file():
        raise ConfigError(f"{what}: no such file")
    return path


def shown_path(path: Path) -> str:
    """Write a file's path for a message: from the folder the suite is run in, or from the suite's
    own.

    Of a file that an archive was unpacked to, the archive's path and the file's place in it.
    """
    for folder, archive in UNPACKED.items():
        if path.is_relative_to(folder):
            return f"{archive}: {path.relative_to(folder).as_posix()}"
    for base in (Path.cwd(), ROOT):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return str(path)


def config_file(place: str) -> Path:
    """Find a file under config/: that of the folder the suite is run in where there is one, else
    the suite's own.
    """
    own = Path("config", place)
    return own if own.exists() else ROOT / "config" / place


def is_left_behind(path: str) -> bool:
    """Say whether a system or an editor leaves files of this name, or a folder that they lie in."""
    return any(map(LEFT_BEHIND.fullmatch, path.split("/")))


def list_folder(folder: Path, ending: str = "") -> list[Path]:
    """List what lies in a folder, by name, without what systems and editors leave; nothing where it
    may not be read.
    """
    with suppress(OSError):
        found = []
        for name in sorted(os.listdir(folder)):
            if name.endswith(ending) and not is_left_behind(name):
                found.append(folder / name)
        return found
    return []


def refuse_unread(folder: Path, *read: str) -> None:
    """Raise `ConfigError` for a YAML or Python file in a folder or below that none of the patterns
    `read` finds.

    What begins with _ is left alone, and what systems and editors leave.
    """
    found = {path for pattern in read for path in folder.glob(pattern)}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        private = place.startswith("_") or "/_" in place or is_left_behind(place)
        if path not in found and not private and LOOKS_READ.fullmatch(path.name):
            raise ConfigError(
                f"{path}: this file is never read; "
                f"files that are read in {folder}: {', '.join(read)}"
            )


@contextmanager
def atomic_write(path: str | Path, *, wait: bool = True) -> Iterator[BinaryIO]:
    """Open a file that takes its place once all of it is on the disk; until then what stood there
    stands.

    wait: for the disk. False for one of many files, whose writer calls `os.sync` once at its end.
    `CannotWrite` where the disk is full, or the file system refuses in another way.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name[:40]}.{HOST}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_deserted(path.parent, os.getpid())
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            if wait:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):  # it is not there, or can no more be removed than written
            temporary.unlink()
        if refusal := _refusal(error):
            raise CannotWrite(refusal.errno, refusal.strerror, str(path)) from error
        raise


def _refusal(error: BaseException | None) -> OSError | None:
    """Find the error of the system behind one of a library that was writing (torch)."""
    while error and not (isinstance(error, OSError) and error.errno):
        error = error.__context__
    return error


@cache
def _remove_deserted(folder: Path, process: int) -> None:
    """Remove what killed processes had begun to write there, but for another user's; once for each
    process or fork.
    """
    for entry in os.scandir(folder) if os.access(folder, os.R_OK) else ():
        with suppress(OSError):
            name = UNFINISHED.fullmatch(entry.name)
            if name and _is_deserted(entry, *name.groups()):
                Path(entry).unlink(missing_ok=True)


def _is_deserted(entry: os.DirEntry, host: str, process: str) -> bool:
    """Say whether a file is given up: its process has ended, or another host has not touched it for
    a day.
    """
    if host != HOST:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > DAY
    import psutil  # few folders hold unfinished files

    try:
        # ended, and not yet waited for
        return psutil.Process(int(process)).status() == psutil.STATUS_ZOMBIE
    except psutil.Error as error:  # it may be hidden, as another user's
        return isinstance(error, psutil.NoSuchProcess)


@contextmanager
def open_zip(path: Path, largest: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive from elsewhere; refuse one that would unpack to more than `largest`
    bytes.
    """
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            if entry.compress_type not in METHODS:
                raise zipfile.BadZipFile(
                    f"{entry.filename} uses a compression method other than deflate"
                )
        size = sum(entry.file_size for entry in entries)
        if size > largest:
            raise ConfigError(f"{path}: unpacks to {size:,} bytes; the limit is {largest:,}")
        yield archive


def pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Read an entry piece by piece, never more of it than its list says."""
    with archive.open(name) as file:
        while piece := file.read(PIECE):
            yield piece
