"""The record: what a run leaves behind, and the only thing that crosses from runs to tables and
pages.

Closed and versioned. A run that breaks leaves a record too, with its status and its reason.
"""

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model
from pydantic_core import to_json

from workflow.config.errors import ConfigError, shown
from workflow.config.files import atomic_write, shown_path
from workflow.config.job import Job
from workflow.config.strict import Name, StrictModel, parse, read_json
from workflow.tasks.spec import TASKS, AnyJob
from workflow.tasks.task import curve_columns

VERSION = 2
DIGITS = 12  # of a signature
# A list of numbers over several lines, as an indent writes it. No text matches: JSON escapes its
# line breaks.
LIST_OF_NUMBERS = re.compile(r"\[\n\s*([-+.\deE,\s]+?)\n\s*\]")
Status = Literal["ok", "diverged", "oom", "timeout", "error"]


class Measured(StrictModel):
    """Numbers as they were measured: nan and infinity where a run diverged."""

    model_config = ConfigDict(allow_inf_nan=True)


# The columns that the tasks declare in their `curve`; a point leaves those of other tasks empty.
CURVE_COLUMNS = curve_columns(task.curve for task in TASKS.values())
Point = create_model(
    "Point",
    __base__=Measured,
    __doc__="One row of a learning curve: the step, what its task declares, and the speed.",
    step=int,
    **dict.fromkeys(CURVE_COLUMNS, (float | None, None)),
    tokens_per_s=float,
)


class ScoresAt(Measured):
    """State the scores at one value of the task's condition, such as a test length.

    at: the value. count: samples scored. metrics: scores by name.
    """

    at: float
    count: int
    metrics: dict[str, float]


class Macs(Measured):
    """Count MACs (multiply-accumulates) per predicted character or subword of a trained model.

    paper: by the formula of Adaptive Attention Span, Tables 1 and 2, at the mean span reached; None
        for translation, which has no such formula.
    dense: of the graph of the definition in one training block, nothing left out.
    executed: of the graph of the engine, which leaves out keys beyond the reach of the heads.
    """

    paper: float | None = None
    dense: float
    executed: float


class Cost(Measured):
    """State what a run took.

    seconds: of training, with the scoring on dev and the saving of checkpoints during it.
    tokens_per_s: characters or subwords per second of updates alone.
    peak_memory_bytes: of the whole process on a CPU, of the allocator on a GPU.
    parameters: number of trained parameters.
    macs: MACs per predicted character or subword; None where the model was not trained.
    backends: the code that computed attention, a line for each pass and shape; on a GPU why not
        the kernel, or in which tiles.
    """

    seconds: float
    tokens_per_s: float
    peak_memory_bytes: int
    parameters: int
    macs: Macs | None = None
    backends: list[str] = []


class Origin(StrictModel):
    """State where a number comes from.

    commit, dirty: the commit of the project, and whether files differed from it.
    source: a digest of the files that can change the number. sources: the digest of each file.
    accepted: in old records, changes of those files that were declared to alter no number.
    device, devices: the name of the device, and how many of them shared the work.
    driver: of the GPU; None on a CPU.
    threads, allocator, precision: settings of the process; precision is fp32 or bf16.
    deterministic: whether PyTorch was restricted to deterministic algorithms.
    versions: of Python, PyTorch, the compiler and the other libraries that compute.
    host_memory_bytes: of the machine. started: the UTC time at which the run started.
    missing: what the machine did not report, or refused, and why.
    """

    commit: str
    dirty: bool
    source: str
    sources: dict[str, str] = {}
    accepted: list[str] = []
    device: str
    devices: int = 1
    driver: str | None
    threads: int
    allocator: str | None = None
    precision: str
    deterministic: bool
    versions: dict[str, str]
    host_memory_bytes: int | None
    started: str
    missing: dict[str, str] = {}

    def fields(self) -> dict[str, str]:
        """List by name what two origins may differ in, versions and source files one by one; not
        the time.
        """
        fields = self.model_dump(exclude={"started", "versions", "sources", "accepted"})
        fields |= {f"version of {name}": version for name, version in self.versions.items()}
        fields |= {f"source {file}": digest for file, digest in self.sources.items()}
        fields |= {
            f"accepted change {number}": line for number, line in enumerate(self.accepted, 1)
        }
        return {name: str(value) for name, value in fields.items()}


class Record(Measured):
    """State what a run leaves behind.

    version: of this schema. status, reason: `ok`, or how the run failed and why.
    digest: 12 hexadecimal digits of the job. job: all settings, verbatim.
    follows: the digest of the trial whose settings the run uses, if its job has trials.
    metrics: scores by name; a failed run has none.
    over_condition: scores at each value of the task's condition, in ascending order.
    facts: other properties of the trained model by name, such as the spans of its heads.
    missing: why a score, fact or count could not be computed, by its name.
    cost: what the run took; None if it failed before training ended.
    curve: the learning curve. losses: in nats, summed over the first 1, 2, 4, ... updates.
    origin: the code, machine and libraries. log: the last lines that a failed run printed.
    bits: how far the last digit of its scores is reproducible, `training.backends.bits`.
    weights: a digest of the trained weights; None if nothing was trained.
    contents: a digest of everything else in the record, as it was written.
    """

    version: Literal[2] = VERSION
    status: Status
    reason: str | None = None
    digest: Name
    job: AnyJob
    follows: Annotated[Name | None, Field(exclude_if=lambda value: value is None)] = None
    metrics: dict[str, float] = {}
    over_condition: Annotated[list[ScoresAt], Field(exclude_if=lambda value: not value)] = []
    facts: dict[str, Any] = {}
    missing: dict[str, str] = {}
    cost: Cost | None = None
    curve: list[Point] = []
    origin: Origin
    log: list[str] = []
    bits: Literal["portable", "this machine"] = "this machine"
    losses: list[float] = []
    weights: str | None = None
    contents: str | None = None

    @property
    def signature(self) -> str:
        """Return the digits of `contents` by which tables, figures and verdicts name what they rest
        on.
        """
        return (self.contents or "")[:DIGITS]

    @property
    def trained(self) -> Job:
        """Return the job as it was trained: with the settings of the trial that it follows."""
        return self.job.following(self.follows)

    @property
    def why(self) -> str | None:
        """Say why the run failed, or what a trained net lacks: names with the same reason are
        listed together.
        """
        named = {
            each: [name for name in self.missing if self.missing[name] == each]
            for each in self.missing.values()
        }
        return (
            self.reason
            or "; ".join(f"{', '.join(names)}: {each}" for each, names in named.items())
            or None
        )


def write_text(path: str | Path, text: str) -> None:
    """Write a whole file or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode())


def write_if_changed(path: Path, text: str, *, wait: bool = True) -> None:
    """Leave a file alone whose bytes would be the same. wait: as for `atomic_write`."""
    if not path.exists() or path.read_bytes() != text.encode():
        with atomic_write(path, wait=wait) as file:
            file.write(text.encode())


def curve_text(record: "Record") -> str:
    """Write the learning curve as CSV."""
    with io.StringIO(newline="") as text:
        rows = csv.DictWriter(text, Point.model_fields, lineterminator="\n")
        rows.writeheader()
        rows.writerows(point.model_dump() for point in record.curve)
        return text.getvalue()


def raw_record(record: Record) -> dict:
    """Return the JSON of a record, with its `contents`."""
    raw = json.loads(record.model_dump_json())
    return raw | {"contents": _digest(raw)}


def layout(raw: dict) -> str:
    """Lay out the JSON of a record for its file: a list of numbers takes one line."""
    text = to_json(raw, indent=1, inf_nan_mode="constants").decode()
    return LIST_OF_NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def write_record(path: str | Path, record: Record) -> None:
    """Write the file of a record."""
    write_text(path, layout(raw_record(record)))


class Edited(ConfigError):
    """A record that says something else than its run wrote. left: the record without anything that
    was measured.
    """

    def __init__(self, where: str, record: Record):
        reason = "edited after the run, so its numbers are not the run's"
        super().__init__(f"{where}: {reason}; delete it")
        nothing = {
            "metrics": {},
            "facts": {},
            "missing": {},
            "cost": None,
            "curve": [],
            "weights": None,
        }
        self.left = record.model_copy(
            update=nothing | {"status": "error", "reason": f"its record was {reason}"}
        )


def read_or_refuse(path: str | Path) -> Record:
    """Read one record; of one that was edited by hand, which is said in a line, only that it is
    refused.
    """
    try:
        return read_record(path)
    except Edited as error:
        print(f"refused: {error}", flush=True)
        return error.left


def read_record(path: str | Path) -> Record:
    """Read the file of a record; `Edited` if it was edited, `ConfigError` if it is not a record."""
    return verify(read_raw(path), shown_path(Path(path)))


def read_raw(path: str | Path):
    """Read the JSON of a record's file, unchecked; `ConfigError` if it is truncated."""
    return read_json(Path(path), "not a record, delete it and run again")


def verify(raw, where: str) -> Record:
    """Parse the JSON of a record; `Edited` if it was edited, `ConfigError` if it is not a record.

    where: what errors call the place that it was read from.
    """
    version = raw.get("version") if isinstance(raw, dict) else None
    if version != VERSION:
        raise ConfigError(
            f"{where}: record version {shown(version)}, this suite reads {VERSION}; "
            "move results away"
        )
    record = parse(Record, raw, f"{where}: not a record of this suite")
    if record.contents != _digest(raw):
        raise Edited(where, record)
    return record


def _digest(raw: dict) -> str:
    """Digest what a record says, however its JSON is laid out."""
    said = json.dumps({**raw, "contents": None}, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
