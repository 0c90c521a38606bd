"""Runs that several workflows share: what another one has finished since this one began is taken as it is."""

import os
from pathlib import Path

import psutil

from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.config.lifetime import ENDS_WITH
from workflow.results.record import read_record

FILES = ("record.json", "curve.csv", "weights.pt")


def made_meanwhile(folder: Path, job: Job, source: str) -> bool:
    """Whether all files of a run were written, for this job by this code, since the workflow around this process began.

    source: digest of the files that the numbers depend on. Never without a workflow: a command by hand is obeyed.
    """
    if not (number := os.environ.get(ENDS_WITH)):
        return False
    try:
        began = psutil.Process(int(number)).create_time()
        if any((folder / name).stat().st_mtime < began for name in FILES):
            return False
        record = read_record(folder / "record.json")
    except (psutil.Error, OSError, ConfigError):
        return False
    return record.job == job and record.origin.source == source
