"""What workflows leave: compared with what another left, and searched for what nobody needs."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from workflow.results.rows import read_rows

# keys of a record
OF_THE_MOMENT = {
    "seconds",
    "tokens_per_s",
    "peak_memory_bytes",
    "backends",
    "started",
    "log",
    "contents",
}
SAME_BYTES = {"weights.pt", "job.json", "plan.json"}
# what is not ours in the folders for temporary files and caches
KEPT = re.compile(r"snakemake\w*|torchinductor_\w+|matplotlib|attention-suite")
# what the OpenMP runtime of any program, ours or not, registers and leaves when it is killed
OPENMP = "__KMP_REGISTERED_LIB_"


def timeless(content):
    """Return a record without what differs between two runs of one job."""
    if isinstance(content, dict):
        kept = content.keys() - OF_THE_MOMENT
        return {key: timeless(content[key]) for key in kept}
    if isinstance(content, list):
        return [timeless(each) for each in content]
    return content


def files(folder: Path) -> dict[str, Path]:
    """List results and reports by their place."""
    found = {}
    for part in ("results", "reports"):
        for path in (folder / part).rglob("*"):
            if path.is_file():
                place = path.relative_to(folder)
                found[place.as_posix()] = path
    return found


def differences(whole: Path, folder: Path) -> list[str]:
    """Name every file that one has and the other lacks, and every one with another number."""
    expected = files(whole)
    found = files(folder)
    lines = [f"{name} is lost" for name in expected.keys() - found.keys()]
    lines += [f"{name} is left over" for name in found.keys() - expected.keys()]
    for name in expected.keys() & found.keys():
        wanted = content_of(expected[name])
        if content_of(found[name]) != wanted:
            lines.append(f"{name} differs")
    return sorted(f"{folder.name}: {line}" for line in lines)


def content_of(path: Path) -> object:
    """Return what must be the same in two workflows; whether it is empty for what shows times."""
    if path.name == "record.json":
        return timeless(json.loads(path.read_bytes()))
    if path.name in SAME_BYTES or path.suffix == ".npz":
        return path.read_bytes()
    if path.name == "curve.csv":
        # the speed is its last column
        lines = path.read_text().splitlines()
        return [line.rpartition(",")[0] for line in lines]
    if path.parent.name == "flops":
        return read_rows(path)
    return path.stat().st_size > 0


def is_of_a_job(marker: Path) -> bool:
    """Whether Snakemake marks a job.json, which another workflow then wrote."""
    marked = base64.b64decode(marker.name)
    return marked.endswith(b"/job.json")


def find_left(folder: Path) -> Iterator[Path]:
    """Find unfinished files, checkpoints, markers of Snakemake, and files in /tmp and caches."""
    yield from folder.glob("*/re[ps]*/**/.*")
    yield from folder.glob("*/results/**/checkpoint.pt")
    for part in ("incomplete", "locks", "backup", "shadow"):
        for path in folder.glob(f"*/.snakemake/{part}/**/*"):
            if path.is_file() and not is_of_a_job(path):
                yield path
    for part in ("tmp", "cache"):
        for path in folder.glob(f"{part}/*"):
            if not KEPT.fullmatch(path.name):
                yield path
    for path in folder.glob("cache/attention-suite/*"):
        if path.suffix != ".so":
            yield path


def find_memory(owner: str) -> Iterator[Path]:
    """Find shared memory of processes that have ended."""
    for path in Path("/dev/shm").glob("*"):
        if path.name.startswith(OPENMP):
            continue
        parts = path.name.split("_")
        numbers = [part for part in parts if part.isdigit()]
        if not numbers or path.owner() != owner:
            continue
        process = Path("/proc", numbers[0])
        if not process.exists():
            yield path


def leftovers(folder: Path, processes: Callable[[], list], seconds: float = 10) -> list[str]:
    """Name the files, shared memory and processes that are left after a trial."""
    end = time.monotonic() + seconds
    while processes() and time.monotonic() < end:
        time.sleep(0.1)
    left = list(find_left(folder))
    left += find_memory(folder.owner())
    lines = [f"{path}: left" for path in left]
    for each in processes():
        lines.append(f"process {each.pid} lives: {each.cmdline()}")
    return lines
