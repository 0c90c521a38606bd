"""The runs that have ended, with how long each took: records, and the benchmark files that Snakemake writes."""

from functools import cache
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.monitor.estimate import Timed
from workflow.results.record import read_record


def read_timed(runs: Path) -> list[Timed]:
    """Every run whose record can be read, each once: those of this folder first, then what came with the project.

    A run has taken place here where its folder holds weights: none come with a record.
    """
    found: dict[str, Timed] = {}
    for path in (*sorted(runs.glob("*/record.json")), *sorted(PRECOMPUTED.glob("*/*.json"))):
        if (run := _read(path, path.stat().st_mtime_ns)) is not None:
            found.setdefault(run.record.digest, run)
    return list(found.values())


@cache
def _read(path: Path, stamp: int) -> Timed | None:
    """stamp: when the file was written; one that has not changed is read once."""
    try:
        record = read_record(path)
    except (ConfigError, OSError):  # of another version: no estimate rests on it
        return None
    here = (path.parent / "weights.pt").exists()
    return Timed(record, here, read_benchmark(path.parent / "benchmark.tsv") if here else None)


def read_benchmark(path: Path) -> float | None:
    """Seconds of the process that Snakemake timed; None without a file, or with one that is not Snakemake's."""
    try:
        head, row, *_ = path.read_text(encoding="utf-8").splitlines()
        return float(dict(zip(head.split("\t"), row.split("\t"), strict=False))["s"])
    except (OSError, ValueError, KeyError):
        return None
