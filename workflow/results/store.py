"""Find the record of a run by its digest, wherever it is stored.

A run that was trained here has a folder, results/runs/DIGEST/. Records that ship with the project
are lines of results/precomputed/SCALE/TASK.jsonl, sorted by digest. Two parts of a shipped record
are stored apart and put back when it is read:

- SCALE/facts.zip holds long facts, such as n-gram counts and attention maps, in DIGEST.json.
- sources.json holds the digests of source files, which many records share, by `origin.source`.

Its learning curve is a list of values for each column, null for a column without any. Its log is
null where it says what the curve says.

`contents`, the digest over all that a record says, is checked on the record with its parts put
back, so an edited part is refused like an edited line.
"""

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED, atomic_write, shown_path
from workflow.config.strict import parse_json, read_json
from workflow.results.record import Edited, Record, layout, raw_record, read_raw, verify

RUNS = Path("results/runs")  # of the project
FACTS, SOURCES = "facts.zip", "sources.json"
# In a scale's results: the shipped records that belong to them, digest -> contents.
SHIPPED = "shipped.json"
LONG = 2000  # characters of JSON from which a fact is stored in facts.zip
# How each line begins, so that an index is made without parsing the rest.
HEAD = re.compile(rb'\{"digest":"([^"]+)","contents":"([0-9a-f]{64})",')


@dataclass(frozen=True)
class Line:
    """Where the line of a shipped record is.

    contents: the digest over what the record says, as its line has it.
    """

    file: Path
    offset: int
    length: int
    contents: str


@dataclass(frozen=True)
class Store:
    """Reads records by digest: those of runs trained here first, then those that ship.

    runs: the folder with RUNS/DIGEST/record.json, if any. lines: the folder with SCALE/TASK.jsonl,
    if any. only: the `contents` of the lines that belong to these results; None: all lines do.
    """

    runs: Path | None = None
    lines: Path | None = None
    only: Mapping[str, str] | None = None

    def __contains__(self, digest: str) -> bool:
        return self.file_of(digest) is not None or digest in self.shipped

    @property
    def shipped(self) -> Mapping[str, Line]:
        """Map the digest of each shipped record to its line."""
        if self.lines is None:
            return {}
        return index_lines(self.lines) if self.only is None else self._listed

    @cached_property
    def _listed(self) -> dict[str, Line]:
        """Select the lines in `only`; one with other contents is another record."""
        index = index_lines(self.lines)
        listed = {}
        for digest, contents in self.only.items():
            line = index.get(digest)
            if line is not None and line.contents == contents:
                listed[digest] = line
        return listed

    def file_of(self, digest: str) -> Path | None:
        """Return the record's own file, None unless its run was trained here."""
        if self.runs is None:
            return None
        path = self.runs / digest / "record.json"
        return path if path.is_file() else None

    def digests(self) -> list[str]:
        """List all runs with a record: those trained here, then those that ship, each sorted."""
        here = []
        if self.runs is not None:
            here = sorted(path.parent.name for path in self.runs.glob("*/record.json"))
        shipped = sorted(self.shipped)
        return list(dict.fromkeys(here + shipped))

    def describe_place(self, digest: str) -> str:
        """Say where a record is stored, for messages: its file, or the file and the digest."""
        path = self.file_of(digest)
        if path is not None:
            return shown_path(path)
        if digest in self.shipped:
            return f"{shown_path(self.shipped[digest].file)}, record {digest}"
        folder = self.runs or self.lines or Path()
        return f"{shown_path(folder)}/{digest}/record.json"

    def read(self, digest: str) -> Record:
        """Read one record; `Edited` if it was edited, `ConfigError` if there is none."""
        where = self.describe_place(digest)
        record = verify(self.read_raw(digest), where)
        if record.digest != digest:
            raise ConfigError(
                f"{where}: holds the record of another job, {record.digest}; delete it"
            )
        return record

    def read_or_refuse(self, digest: str) -> Record:
        """Read one record; of an edited one, print that it is refused and return what is left."""
        try:
            return self.read(digest)
        except Edited as error:
            print(f"refused: {error}", flush=True)
            return error.left

    def read_raw(self, digest: str):
        """Read the JSON of one record without checking it; `ConfigError` if there is none."""
        path = self.file_of(digest)
        if path is not None:
            return read_raw(path)
        if digest not in self.shipped:
            raise ConfigError(f"{self.describe_place(digest)}: no such record")
        return _put_together(_read_line(self.shipped[digest]), self.lines)

    def jobs_shipped(self, scale: str, task: str) -> Iterator[tuple[str, dict]]:
        """Yield digest and job of each shipped record of a task at a scale, unchecked."""
        for raw in self.lines_shipped(scale, task):
            yield raw["digest"], raw["job"]

    def lines_shipped(self, scale: str, task: str) -> Iterator[dict]:
        """Yield each shipped record of a task at a scale as its line has it: unchecked, and without
        what is stored apart. It is 15 times as fast as reading records.
        """
        for line in self.shipped.values():
            if (line.file.parent.name, line.file.stem) == (scale, task):
                yield _read_line(line)

    def read_text(self, digest: str) -> str:
        """Return what a record's file holds, or would hold had its run been trained here."""
        path = self.file_of(digest)
        if path is not None:
            return path.read_text(encoding="utf-8")
        return layout(self.read_raw(digest))


def shipped_store() -> Store:
    """Return the store of the records that ship with the project."""
    return Store(lines=PRECOMPUTED)


def own_store(runs: Path = RUNS) -> Store:
    """Return the store of this project: runs trained here, then those that ship."""
    return Store(runs, PRECOMPUTED)


def records_beside(scale: Path) -> Store:
    """Return the store of a folder with a scale's results.

    It has the runs next to the folder and those shipped records that the folder lists.
    """
    folder = scale.parent
    listed = scale / SHIPPED
    if folder.resolve() == PRECOMPUTED:
        return Store(lines=folder)
    only = read_json(listed) if listed.is_file() else {}
    return Store(folder / "runs", PRECOMPUTED, only)


def ships(digest: str) -> bool:
    """Return whether the record of this run ships with the project."""
    return digest in index_lines(PRECOMPUTED)


def files_with_lines(folder: Path) -> list[Path]:
    """List the files with shipped records."""
    return sorted(folder.glob("*/*.jsonl"))


@cache
def index_lines(folder: Path) -> dict[str, Line]:
    """Find every line by digest, once for each process; `ConfigError` names one that is no record.

    Ten megabytes are read, but no record is parsed: it takes some 20 ms.
    """
    found: dict[str, Line] = {}
    for file in files_with_lines(folder):
        offset = 0
        place = shown_path(file)
        for number, content in enumerate(_lines_of(file), 1):
            head = HEAD.match(content)
            if head is None:
                reason = "not a record of this suite; restore the file"
                raise ConfigError(f"{place}, line {number}: {reason}")
            digest = head[1].decode()
            if digest in found:
                other = shown_path(found[digest].file)
                raise ConfigError(f"{place}, line {number}: record {digest} is in {other}")
            found[digest] = Line(file, offset, len(content), contents=head[2].decode())
            offset += len(content)
    return found


def _lines_of(file: Path) -> list[bytes]:
    """Split a file at line feeds alone: a JSON text may hold other characters that end lines."""
    content = file.read_bytes()
    return [line + b"\n" for line in content.split(b"\n") if line]


def _read_line(line: Line):
    with open(line.file, "rb") as file:
        file.seek(line.offset)
        content = file.read(line.length)
    return parse_json(content, shown_path(line.file))


def _put_together(raw: dict, folder: Path) -> dict:
    """Put the parts of a record that are stored apart back in their places, which hold null.

    A part that is missing stays missing: the record's `contents` will then not match.
    """
    facts = raw.get("facts")
    if isinstance(facts, dict):
        archive = folder / _scale_of(raw) / FACTS
        facts |= _read_facts(archive, raw["digest"])
    origin = raw.get("origin")
    is_apart = isinstance(origin, dict) and origin.get("sources", {}) is None
    if is_apart:
        sources = _read_sources(folder / SOURCES)
        origin["sources"] = sources.get(origin.get("source"), {})
    if isinstance(raw.get("curve"), dict):
        with suppress(TypeError, ValueError):  # of another form: refused when it is read
            raw["curve"] = _as_points(raw["curve"])
    if raw.get("log", "") is None:
        with suppress(TypeError, ValueError, LookupError):
            raw["log"] = _log_of(raw["curve"])
    # in a line, digest and contents come first; in a record's file they do not
    ordered = {name: raw[name] for name in Record.model_fields if name in raw}
    return ordered | raw


def _as_columns(points: list[dict]) -> dict[str, list | None]:
    """Turn a learning curve into columns, which name each column once; None for an empty one."""
    columns = {}
    for name in points[0]:
        values = [point[name] for point in points]
        columns[name] = None if values.count(None) == len(values) else values
    return columns


def _as_points(columns: dict[str, list | None]) -> list[dict]:
    """Turn columns back into the points of a learning curve."""
    filled = {name: values for name, values in columns.items() if values is not None}
    points = []
    for values in zip(*filled.values(), strict=True):
        points.append(dict.fromkeys(columns) | dict(zip(filled, values, strict=True)))
    return points


def _log_of(points: list[dict]) -> list[str]:
    """Write the lines that training printed for the points of its learning curve.

    A log with other lines is stored as it is, so that training may change what it prints.
    """
    lines = []
    for point in points:
        losses = []
        for name, value in point.items():
            if name.startswith(("train", "dev")) and value is not None:
                losses.append(f"{name} {value:.3f}")
        speed = f"{point['tokens_per_s']:.0f} tokens/s"
        lines.append("  ".join([f"step {point['step']}", "  ".join(losses), speed]))
    return lines


def _scale_of(raw: dict) -> str:
    job = raw.get("job")
    if not isinstance(job, dict):
        return ""
    return str(job.get("scale"))


def _read_facts(path: Path, digest: str) -> dict:
    """Read the long facts of one record; none if it has none."""
    archive = _open_facts(path)
    name = f"{digest}.json"
    if archive is None or name not in archive.namelist():
        return {}
    try:
        facts = parse_json(archive.read(name), f"{shown_path(path)}: {name}")
    except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
        raise ConfigError(f"{shown_path(path)}: {name} cannot be read ({error})") from None
    return facts if isinstance(facts, dict) else {}


@cache
def _open_facts(path: Path) -> zipfile.ZipFile | None:
    """Open the long facts of a scale, once for each process.

    They are opened in memory: a fork that read the same open file would move its position.
    """
    if not path.is_file():
        return None
    try:
        return zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    except zipfile.BadZipFile as error:
        raise ConfigError(f"{shown_path(path)}: cannot be read ({error})") from None


@cache
def _read_sources(path: Path) -> dict[str, dict[str, str]]:
    if not path.is_file():
        return {}
    return read_json(path)


def forget_lines() -> None:
    """Forget what was read of shipped records, because they have changed."""
    for each in (index_lines, _open_facts, _read_sources):
        each.cache_clear()


def merge_records(records: Iterable[Record], folder: Path) -> None:
    """Add records to those that ship, or replace them; each file is written whole or not at all.

    The parts come first, then the lines that need them. If writing stops half-way, records whose
    facts are newer than their line are refused until the merge is repeated.
    """
    raws = [raw_record(record) for record in records]
    merge_raw(raws, folder)


def merge_raw(raws: Iterable[dict], folder: Path) -> None:
    """Do the same with records as JSON, which must have `contents`."""
    by_scale: dict[str, dict[str, dict]] = defaultdict(dict)
    sources = dict(_read_sources(folder / SOURCES))
    for raw in raws:
        of_scale = by_scale[_scale_of(raw)]
        of_scale[raw["digest"]] = raw
    for of_scale in by_scale.values():
        for raw in of_scale.values():
            origin = raw["origin"]
            sources.setdefault(origin["source"], origin["sources"])
    _write_sources(folder / SOURCES, sources)
    for scale, of_scale in by_scale.items():
        lines = {}
        facts = {}
        for digest, raw in of_scale.items():
            line, long = _take_apart(raw, sources)
            lines[digest] = line
            facts[digest] = long
        _merge_facts(folder / scale / FACTS, facts)
        _merge_lines(folder / scale, lines)
    forget_lines()


def _take_apart(raw: dict, sources: dict[str, dict[str, str]]) -> tuple[dict, dict]:
    """Split a record into what its line holds, with null for what is elsewhere, and long facts."""
    long = {}
    for name, fact in raw["facts"].items():
        if len(_compact(fact)) >= LONG:
            long[name] = fact
    facts = raw["facts"] | dict.fromkeys(long)
    origin = raw["origin"]
    stored = sources.get(origin["source"])
    if stored == origin["sources"]:
        origin = origin | {"sources": None}
    # first, so that an index finds them without parsing the line
    head = {"digest": raw["digest"], "contents": raw["contents"]}
    points = raw["curve"]
    curve = _as_columns(points) if points else []
    log = None if raw["log"] == _log_of(points) else raw["log"]
    parts = {"facts": facts, "origin": origin, "curve": curve, "log": log}
    line = head | raw | parts
    return line, long


def _merge_lines(folder: Path, records: dict[str, dict]) -> None:
    """Merge the lines of a scale, task by task, sorted by digest."""
    by_task: dict[str, dict[str, bytes]] = defaultdict(dict)
    for digest, raw in records.items():
        of_task = by_task[raw["job"]["task"]]
        line = _compact(raw) + "\n"
        of_task[digest] = line.encode()
    for task, changed in by_task.items():
        path = folder / f"{task}.jsonl"
        lines = _lines_by_digest(path) | changed
        with atomic_write(path) as file:
            for digest in sorted(lines):
                file.write(lines[digest])


def _lines_by_digest(path: Path) -> dict[str, bytes]:
    if not path.is_file():
        return {}
    lines = {}
    for line in _lines_of(path):
        digest = HEAD.match(line)[1].decode()
        lines[digest] = line
    return lines


def _merge_facts(path: Path, changed: dict[str, dict]) -> None:
    """Merge the long facts of a scale; the same facts give the same bytes."""
    known = _open_facts(path)
    members = {}
    if known is not None:
        members = {name: known.read(name) for name in known.namelist()}
    for digest, facts in changed.items():
        members.pop(f"{digest}.json", None)
        if facts:
            members[f"{digest}.json"] = _compact(facts).encode()
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name in sorted(members):
            # with a constant date
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, members[name], zipfile.ZIP_DEFLATED, compresslevel=9)


def _write_sources(path: Path, sources: dict[str, dict[str, str]]) -> None:
    """Write a line for each map, so that a merge adds lines and changes none."""
    lines = []
    for source in sorted(sources):
        key = _compact(source)
        files = _compact(sources[source])
        lines.append(f"{key}:{files}")
    listed = ",\n".join(lines)
    text = f"{{\n{listed}\n}}\n"
    with atomic_write(path) as file:
        file.write(text.encode())


def _compact(value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
