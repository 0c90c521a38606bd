"""Accept a change of source that alters no number: `python -m workflow.cli.accept FILE --why "a comment"`.

FILE: a file of models/ or workflow/ whose change would make runs, measures or artefacts out of date. A line in
config/accepted.yaml names the file, what it was and is, and why; the records of the runs that rest on it keep the line.
Runs that failed are trained again all the same. The digest that it had is read from those records; --was gives it where
there is none.
"""

from pathlib import Path

import yaml

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import parse
from workflow.plan import sources
from workflow.results.record import Record, read_record, write_record, write_text

HEAD = "".join(
    line for line in sources.ACCEPTED.read_text(encoding="utf-8").splitlines(keepends=True) if line[0] == "#"
)


def records_with(file: str, runs: Path) -> list[tuple[Path, Record]]:
    """The records of runs whose numbers depend on a file."""
    records = []
    for path in sorted(runs.glob("*/record.json")):
        try:
            record = read_record(path)
        except ConfigError:  # of another version: nothing can be accepted for it
            continue
        if file in record.origin.sources:
            records.append((path, record))
    return records


def accept(file: str, why: str, runs: Path, was: str | None = None) -> list[str]:
    """Write the line, and add it to the records; what was done, in lines."""
    path = ROOT / file
    if not path.is_file() or not path.resolve().is_relative_to(ROOT):
        raise ConfigError(f"{file}: no such file in {ROOT}")
    now, records = sources.file_digest(path), records_with(file, runs)
    made = {path: sources.accepted_digest(file, record.origin.sources[file]) for path, record in records}
    before = ({sources.accepted_digest(file, was)} if was else {*made.values()}) - {sources.accepted_digest(file, now)}
    if not before:
        raise ConfigError(
            f"{file}: nothing to accept: no record was made with another version of it; give its old digest with --was"
        )
    given = [{"file": file, "was": digest, "now": now, "why": why.strip()} for digest in sorted(before)]
    changes = [parse(sources.AcceptedChange, change, "accept") for change in given]
    if len(changes) > 1:
        versions = ", ".join(sorted(before))
        raise ConfigError(
            f"{file}: records were made with several other versions of it, {versions}; give one of them with --was"
        )
    content = [change.model_dump() for change in (*sources.accepted(), *changes)]
    write_text(sources.ACCEPTED, HEAD + yaml.safe_dump({"changes": content}, sort_keys=False, width=200))
    sources.accepted.cache_clear()
    resting = [(path, record) for path, record in records if made[path] in before]
    well = [(path, record) for path, record in resting if record.status == "ok"]
    for record_path, record in well:
        record.origin.accepted.append(str(changes[0]))
        write_record(record_path, record)
    failed = [f"{len(resting) - len(well)} runs failed and are trained again"] if len(well) < len(resting) else []
    return [f"accepted: {changes[0]}", f"noted in {len(well)} records", *failed]


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="accept", description="Accept a change of source that alters no number.")
    parser.add_argument("file", help="from the root of the suite, e.g. models/attention/spans/adaptive.py")
    parser.add_argument("--why", required=True, help="what was changed, and why no number depends on it")
    parser.add_argument("--was", help="digest of the file before the change, 12 hexadecimal digits")
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    options = parser.parse_args(argv)
    print("\n".join(accept(Path(options.file).as_posix(), options.why, options.runs, options.was)))


if __name__ == "__main__":
    run(main)
