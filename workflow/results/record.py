"""The record: what a run leaves behind, and the only thing that crosses from runs to tables and pages.

Closed and versioned. A run that breaks leaves a record too, with its status and its reason.
"""

from pathlib import Path
from typing import Any, Literal

from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write
from workflow.config.job import AnyJob
from workflow.config.strict import StrictModel, parse, parse_json

PRECOMPUTED = Path(__file__).parents[2] / "results" / "precomputed"
VERSION = 1
Status = Literal["ok", "diverged", "oom", "timeout", "error"]


class Point(StrictModel):
    """One row of a learning curve. bpc: bits per character; ppl: perplexity per piece; spans in characters."""

    step: int
    train_bpc: float | None = None
    dev_bpc: float | None = None
    train_ppl: float | None = None
    dev_ppl: float | None = None
    dev_bleu: float | None = None
    mean_span: float | None = None
    max_span: float | None = None
    tokens_per_s: float


class Macs(StrictModel):
    """Multiply-accumulates per predicted character or piece, in three readings of the same trained net.

    paper: the formula of Adaptive Attention Span, Tables 1 and 2, at the mean span reached; translation has none.
    dense: the graph as the definition computes it in one training block, nothing trimmed.
    executed: the graph as the engine computes it, after trimming to what the heads reach.
    """

    paper: float | None = None
    dense: float
    executed: float


class Cost(StrictModel):
    """engine: what computed attention, for what it was chosen."""

    seconds: float
    tokens_per_s: float
    peak_memory_bytes: int
    parameters: int
    macs: Macs | None = None
    engine: list[str] = []


class Origin(StrictModel):
    """Where a number comes from. `source` is a digest of every file that can change a number."""

    commit: str
    dirty: bool
    source: str
    device: str
    driver: str | None
    threads: int
    allocator: str | None = None
    precision: str
    deterministic: bool
    versions: dict[str, str]
    host_memory_bytes: int
    started: str


class Record(StrictModel):
    version: Literal[1] = VERSION
    status: Status
    reason: str | None = None
    digest: str
    job: AnyJob
    metrics: dict[str, float] = {}
    facts: dict[str, Any] = {}
    cost: Cost | None = None
    curve: list[Point] = []
    origin: Origin
    log: list[str] = []


def published(digest: str) -> Path | None:
    """The record of this job among those that came with the project, made on another machine."""
    return next(iter(sorted(PRECOMPUTED.glob(f"*/{digest}.json"))), None)


def write_text(path: str | Path, text: str) -> None:
    """Write a whole file or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode())


def write_record(path: str | Path, record: Record) -> None:
    write_text(path, record.model_dump_json(indent=1) + "\n")


def read_record(path: str | Path) -> Record:
    """Read one record. `ConfigError` where the file is truncated, foreign, or of another version."""
    raw = parse_json(Path(path).read_bytes(), f"{path}: not a record, delete it and run again")
    found = raw.get("version") if isinstance(raw, dict) else None
    if found != VERSION:
        raise ConfigError(f"{path}: record version {found!r}, this suite reads {VERSION}; move the results folder away")
    return parse(Record, raw, f"{path}: not a record of this suite")
