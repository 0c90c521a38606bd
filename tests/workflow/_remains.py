"""What workflows leave: compared with what another has left, and searched for what nobody needs."""

import base64
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from workflow.results.rows import read_rows

# of a record
OF_THE_MOMENT = {
    "seconds",
    "tokens_per_s",
    "peak_memory_bytes",
    "backends",
    "started",
    "log",
    "contents",
}
# in the folders for temporary files and for caches: what is not ours
KEPT = re.compile(r"snakemake\w*|torchinductor_\w+|matplotlib")


def timeless(content):
    """A record without what differs between two runs of one job."""
    if isinstance(content, dict):
        return {key: timeless(value) for key, value in content.items() if key not in OF_THE_MOMENT}
    return [timeless(each) for each in content] if isinstance(content, list) else content


def files(folder: Path) -> dict[str, Path]:
    """Results and reports by their place."""
    paths = (
        path
        for part in ("results", "reports")
        for path in (folder / part).rglob("*")
        if path.is_file()
    )
    return {path.relative_to(folder).as_posix(): path for path in paths}


def differences(whole: Path, folder: Path) -> list[str]:
    """A line for every file that one has and the other lacks, and for every number that is not the
    same to the bit.
    """
    expected, found = files(whole), files(folder)
    lines = [f"{folder.name}: {name} is lost" for name in expected.keys() - found.keys()]
    lines += [f"{folder.name}: {name} is left over" for name in found.keys() - expected.keys()]
    both = (
        name for name in expected.keys() & found.keys() if not same(expected[name], found[name])
    )
    return sorted([*lines, *(f"{folder.name}: {name} differs" for name in both)])


def same(one: Path, other: Path) -> bool:
    if one.name == "record.json":
        return timeless(json.loads(one.read_bytes())) == timeless(json.loads(other.read_bytes()))
    if one.name in ("weights.pt", "job.json", "plan.json") or one.suffix == ".npz":
        return one.read_bytes() == other.read_bytes()
    if one.name == "curve.csv":  # the speed is its last column
        return re.sub(r",[^,\n]*\n", "\n", one.read_text()) == re.sub(
            r",[^,\n]*\n", "\n", other.read_text()
        )
    if one.parent.name == "flops":
        return read_rows(one) == read_rows(other)
    return (one.stat().st_size > 0) == (other.stat().st_size > 0)  # what shows times


def of_a_job(marker: Path) -> bool:
    """Whether it is Snakemake's of a job.json, which another workflow then wrote: nothing reads it
    again.
    """
    return base64.b64decode(marker.name).endswith(b"/job.json")


def leftovers(folder: Path, processes: Callable[[], list], seconds: float = 10) -> list[str]:
    """What is left in the folders of a trial: unfinished files, checkpoints, markers, processes,
    shared memory.
    """
    lines = [f"{path}: left" for path in folder.glob("*/re[ps]*/**/.*")]
    lines += [f"{path}: left" for path in folder.glob("*/results/**/checkpoint.pt")]
    for part in ("incomplete", "locks", "backup", "shadow"):
        marked = (path for path in folder.glob(f"*/.snakemake/{part}/**/*") if path.is_file())
        lines += [f"{path}: left" for path in marked if not of_a_job(path)]
    end = time.monotonic() + seconds
    while (living := processes()) and time.monotonic() < end:
        time.sleep(0.1)
    lines += [f"process {each.pid} lives: {each.cmdline()}" for each in living]
    places = [*folder.glob("tmp/*"), *folder.glob("cache/*")]
    lines += [
        f"{path}: left"
        for path in places
        if not KEPT.fullmatch(path.name) and path.name != "attention-suite"
    ]
    lines += [
        f"{path}: left" for path in folder.glob("cache/attention-suite/*") if path.suffix != ".so"
    ]
    for path in Path("/dev/shm").glob("*"):
        number = next((part for part in path.name.split("_") if part.isdigit()), None)
        if number and path.owner() == Path(folder).owner() and not Path("/proc", number).exists():
            lines.append(f"{path}: left by a process that has ended")
    return lines
