"""The machine around the suite: cores, memory, disk, folders, locale."""

import locale
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from workflow.config.files import FOLDERS
from workflow.data.sources.downloads import cache_folder
from workflow.doctor import container
from workflow.doctor.finding import NOTE, OK, WRONG, Finding, judge

GIB = 1 << 30
LEAST_MEMORY, LEAST_DISK = 2 * GIB, 1 * GIB  # of scale laptop, with what a desktop holds besides


def look_at_system() -> Iterator[Finding]:
    yield judge("Python", sys.version_info >= (3, 11), f"{platform.python_version()}, {platform.platform()}")
    spoken = locale.getpreferredencoding(False)
    speaks = spoken.lower().replace("-", "") in ("utf8", "cp65001")
    yield judge("locale", speaks, f"text is read and written as {spoken}" + ("" if speaks else "; set LANG=C.UTF-8"))


def look_at_cores() -> Iterator[Finding]:
    cores, all_of_them = container.cores(), os.cpu_count() or 1
    limited = "" if cores >= all_of_them else f" of {all_of_them}: start Snakemake with --cores {max(1, int(cores))}"
    yield Finding("cores", NOTE if limited else OK, f"{cores:g}{limited}")


def look_at_memory() -> Iterator[Finding]:
    memory, limit = psutil.virtual_memory(), container.memory_limit()
    holds = min(memory.total, limit or memory.total)
    said = f"{holds / GIB:.1f} GiB, {min(memory.available, holds) / GIB:.1f} free"
    if limit and limit < memory.total:
        said += f"; the container's limit, of {memory.total / GIB:.1f} of the machine"
    yield judge("memory", holds >= LEAST_MEMORY, said + ("" if holds >= LEAST_MEMORY else "; 2 GiB are needed"))


def look_at_disk(root: Path) -> Iterator[Finding]:
    """The folders that are written: of the project, for downloads and compiled code, for locks."""
    free = shutil.disk_usage(root).free
    yield judge("disk", free >= LEAST_DISK, f"{free / GIB:.0f} GiB free" + ("" if free >= LEAST_DISK else ", 1 needed"))
    places = [root / name for name in FOLDERS if (root / name).is_dir()]
    for about, folders in (("project folder", places), ("cache", [cache_folder()]), ("locks", [tempfile.gettempdir()])):
        faults = [fault for folder in folders if (fault := _fault_in_writing(Path(folder)))]
        yield Finding(about, WRONG if faults else OK, "; ".join(faults) or f"{folders[0]}: writable")


def _fault_in_writing(folder: Path) -> str | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"written")
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    return None
