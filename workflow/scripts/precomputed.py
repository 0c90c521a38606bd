"""Take the record of a job that came with the project: `python -m workflow.scripts.precomputed JOB`.

JOB is a job.json; record.json and curve.csv are written beside it.
"""

import argparse
from pathlib import Path

from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.job import read_job
from workflow.results.precomputed import precomputed
from workflow.results.record import curve_text, read_record, write_record, write_text


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="precomputed", description="Take a record that came with the project.")
    parser.add_argument("job", type=Path)
    options = parser.parse_args(argv)
    job = read_job(options.job)
    path = precomputed(job.digest)
    if path is None:
        raise ConfigError(f"{options.job}: no record of job {job.digest} came with the project")
    record = read_record(path)
    if record.job != job:
        raise ConfigError(f"{path}: the record of another job; delete it")
    write_text(options.job.parent / "curve.csv", curve_text(record))
    write_record(options.job.parent / "record.json", record)
    print(f"record of job {job.digest} came with the project: {path.parent.name}")


if __name__ == "__main__":
    run(main)
