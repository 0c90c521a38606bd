"""Write files from what came with the project: `python -m workflow.scripts.precomputed --scale SCALE FILES...`

FILES: record.json and curve.csv of runs, whose job.json lies beside them, files of costs: KIND/CONFIGURATION.json,
or throughput/GROUP.json, and what is measured of a scale as a whole. Nothing is trained or measured. The workflow
asks for --missing instead, all that its config needs, for Snakemake notes a command once for each of its outputs.
"""

import json
import os
from functools import cache
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.environment import CONFIG
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.config.strict import parse_json
from workflow.plan.targets import Targets
from workflow.results.precomputed import content_of, precomputed, precomputed_costs
from workflow.results.record import Record, curve_text, read_record, write_record, write_text
from workflow.results.registry import COSTS, OF_TEXTS
from workflow.results.rows import write_rows
from workflow.tasks.spec import read_job


def take_record(folder: Path) -> Record:
    """The record of the job in a folder; `ConfigError` where none came, or another job's."""
    job = read_job(folder / "job.json")
    path = precomputed(job.digest)
    if path is None:
        raise ConfigError(f"{folder / 'job.json'}: no record of job {job.digest} came with the project")
    record = read_record(path)
    if record.job != job:
        raise ConfigError(f"{path}: the record of another job; delete it")
    return record


def take_costs(kind: str, name: str, scale: str) -> list[dict]:
    """The rows of one file of costs. name: a configuration, or a group of them."""
    wanted = read_targets(scale).runs.groups.get(name, []) if kind == "throughput" else [name]
    rows = [row for row in precomputed_costs(kind, scale) if row["configuration"] in wanted]
    if not rows:
        raise ConfigError(f"{kind} of {name}: did not come with the project at scale {scale}")
    return rows


def whole_of(file: Path, scale: str) -> Path:
    """Where a file about the scale as a whole, or about a text, came with the project."""
    kind, name = (file.parent.name, file.stem) if file.parent.name in OF_TEXTS else (file.stem, scale)
    return PRECOMPUTED / scale / "whole" / kind / f"{name}.json"


@cache
def read_targets(scale: str) -> Targets:
    """Of the config that the workflow passes on."""
    return Targets.of({"scale": scale} | parse_json(os.environ.get(CONFIG, "{}"), "config"))


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="precomputed", description="Write files from what came with the project.")
    parser.add_argument("--scale", required=True)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("files", type=Path, nargs="*", default=[])
    asked.add_argument("--missing", action="store_true", help="all that the config asks for")
    options = parser.parse_args(argv)
    files = read_targets(options.scale).precomputed.missing if options.missing else options.files
    for file in map(Path, files):
        kind = file.parent.name
        if kind in COSTS:
            write_text(file, write_rows(kind, take_costs(kind, file.stem, options.scale)))
        elif (whole := whole_of(file, options.scale)).exists():
            write_text(file, json.dumps(content_of(whole)))
        elif file.name == "curve.csv":
            write_text(file, curve_text(take_record(file.parent)))
        else:
            write_record(file, take_record(file.parent))
    print(f"{len(files)} files came with the project")


if __name__ == "__main__":
    run(main)
